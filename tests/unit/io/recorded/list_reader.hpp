#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Returns the times of a list, some at a time, with the position in the list as channel and payload; a hit is lost
/// before every fifth. `unordered`: see unordered_within(), from the first block on.
class ListReader final : public HitReader {
 public:
  ListReader(std::vector<Tick> times, std::size_t at_once, Tick unordered = 0)
      : times_(std::move(times)), at_once_(at_once), unordered_(unordered) {}
  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  [[nodiscard]] Tick unordered_within() const override { return at_ == 0 ? 0 : unordered_; }
  bool read(HitBlock& block) override {
    block.clear();
    for (; block.size() < at_once_ && at_ < times_.size(); ++at_) {
      if (at_ % 5 == 3) block.losses.push_back({.before = block.size(), .hits = 1});
      block.time.push_back(times_[at_]);
      block.channel.push_back(static_cast<std::uint32_t>(at_));
      block.payload.push_back(static_cast<std::uint32_t>(at_));
    }
    return block.size() != 0;
  }

 private:
  StreamHeader header_;
  std::string name_ = "list";
  std::vector<Tick> times_;
  std::size_t at_once_;
  Tick unordered_;
  std::size_t at_ = 0;
};

}  // namespace eventloom
