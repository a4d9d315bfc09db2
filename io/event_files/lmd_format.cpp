#include "io/event_files/lmd_format.hpp"

#include "core/runtime/format.hpp"
#include "io/lmd/lmd_writer.hpp"

namespace eventloom {

std::string LmdFormat::file_name(std::uint32_t number) const { return fmt::format("{}_{:04}.lmd", stem_, number); }

Recognise LmdFormat::ours() const { return is_written_lmd; }

void LmdFormat::begin_file(std::uint32_t, std::vector<std::byte>& to) { append_lmd_header(to); }

std::uint32_t LmdFormat::append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) {
  const auto& made = events_.make(event, number);
  append_lmd_event(made, to);
  return made.trigger;
}

}  // namespace eventloom
