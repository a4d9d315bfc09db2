#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "io/recorded/hit_reader.hpp"
#include "io/recorded/problem_list.hpp"

namespace eventloom {

/// Summary of the hits of a reader, whatever its format.
class HitSummary {
 public:
  /// Reads `reader` to its end and keeps the first `n_events` hits. Memory grows with these and with the number of
  /// channels, to 32 MiB at most.
  HitSummary(HitReader& reader, std::uint64_t n_events);

  /// Adds hits, channels (how many), first_time, last_time, first_channel, last_channel (the lowest and the highest;
  /// all four 0 without hits), and largest_step_back, by which a hit lies before an earlier one.
  void put_ranges(nlohmann::ordered_json& out) const;
  /// Adds problems and, when requested, first_events: {time, channel, payload} each.
  void put_lists(nlohmann::ordered_json& out) const;
  [[nodiscard]] bool damaged() const { return problems_.any(); }

 private:
  void take(const HitBlock& block, std::uint64_t n_events);
  void count(std::uint32_t channel);

  std::uint64_t hits_ = 0;
  std::uint64_t channels_ = 0;
  Tick first_time_ = ~Tick{0};
  Tick last_time_ = 0;
  Tick largest_step_back_ = 0;
  std::uint32_t first_channel_ = ~std::uint32_t{0};
  std::uint32_t last_channel_ = 0;
  /// The channels that have hits: one bit each, by system and subsystem.
  std::array<std::vector<std::uint64_t>, 4096> seen_;
  ProblemList problems_;
  nlohmann::ordered_json events_ = nlohmann::ordered_json::array();
};

}  // namespace eventloom
