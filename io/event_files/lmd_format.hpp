#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/event_files/event_format.hpp"
#include "io/event_files/lmd_event_maker.hpp"

namespace eventloom {

/// LMD: files STEM_0000.lmd, STEM_0001.lmd, ... of type 101/1, with the events of LmdEventMaker.
class LmdFormat final : public EventFormat {
 public:
  LmdFormat(std::string stem, LmdEventMaker events) : stem_(std::move(stem)), events_(std::move(events)) {}

  [[nodiscard]] std::string file_name(std::uint32_t number) const override;
  [[nodiscard]] Recognise ours() const override;
  void begin_file(std::uint32_t number, std::vector<std::byte>& to) override;
  std::uint32_t append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) override;
  void end_file(std::vector<std::byte>&) override {}
  [[nodiscard]] std::size_t end_bytes() const override { return 0; }

 private:
  std::string stem_;
  LmdEventMaker events_;
};

}  // namespace eventloom
