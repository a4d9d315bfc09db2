#include "app/command/schedule_table.hpp"

#include <cstdint>

#include "app/command/options.hpp"
#include "core/control/agreement.hpp"
#include "formats/text_file.hpp"
#include "schedulers/table.hpp"

namespace eventloom {

std::string schedule_table_text(const std::string& schedule) {
  constexpr std::uint64_t kMostBytes = 64U << 20;
  const auto file = schedule_file(schedule);
  if (!file) return "";
  return parsed("schedule", [&] { return read_text_file(*file, kMostBytes); });
}

std::string schedule_table_text(const std::string& schedule, const Collective& ranks) {
  std::string text;
  agree(ranks, [&] {
    if (ranks.rank() == 0) text = schedule_table_text(schedule);
  });
  return ranks.broadcast(std::move(text));
}

}  // namespace eventloom
