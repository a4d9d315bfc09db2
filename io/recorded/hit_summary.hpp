#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/runtime/json.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/problem_list.hpp"

namespace eventloom {

/// Summary of the hits of a reader of any format.
class HitSummary {
 public:
  /// Reads `reader` to its end and keeps the first `n_events` hits. Memory also grows with the number of channels, by
  /// up to 32 MiB.
  HitSummary(HitReader& reader, std::uint64_t n_events);

  /// Adds the number of hits and channels, first_time, last_time, first_channel and last_channel (the lowest and
  /// highest values; all 0 without hits), and largest_step_back, the most by which a hit lies before an earlier one.
  void put_ranges(Json& out) const;
  /// Adds problems and, if requested, first_events, each with {time, channel, payload}: the numbers of its
  /// columns where these have names, else its words.
  void put_lists(Json& out) const;
  [[nodiscard]] bool damaged() const { return problems_.any(); }

 private:
  void take(const HitBlock& block, std::uint64_t n_events);
  void count(std::uint32_t channel);
  [[nodiscard]] Json numbers_in(std::span<const std::uint32_t> payload) const;

  std::vector<PayloadKind> kinds_;  ///< kinds of the payload columns; empty: the payload is shown as words
  std::uint64_t hits_ = 0;
  std::uint64_t channels_ = 0;
  Tick first_time_ = std::numeric_limits<Tick>::max();
  Tick last_time_ = 0;
  Tick largest_step_back_ = 0;
  std::uint32_t first_channel_ = ~std::uint32_t{0};
  std::uint32_t last_channel_ = 0;
  /// Channels that have hits: one bit each, grouped by system and subsystem.
  std::array<std::vector<std::uint64_t>, 4096> seen_;
  ProblemList problems_;
  Json events_ = Json::array();
};

}  // namespace eventloom
