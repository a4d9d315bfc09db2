#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/traffic.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

struct PatternsConfig {
  std::vector<std::string> patterns;
  std::vector<ScheduleSettings> schedules;  ///< empty: those that suit the pattern
  std::vector<std::uint64_t> sizes;
  std::vector<std::optional<std::uint32_t>> queues;  ///< std::nullopt: chosen by message size
  std::optional<std::uint64_t> cell_size;            ///< std::nullopt: chosen by message size
  std::uint64_t slot_ns = 0;
  double spread = 0;
  double control = 0;
  double seconds = 0;
  std::uint64_t slices = 0;
  Receive receive = Receive::look;
  std::int64_t slow_builder = -1;
  std::uint64_t build_ns = 0;
  std::vector<std::string> peers;
};

/// One row of the table.
struct PatternsPoint {
  std::string pattern;
  ScheduleSettings schedule;
  std::uint64_t message_bytes = 0;
  std::optional<std::uint32_t> queue;  ///< std::nullopt: chosen by message size
};

/// Collective. Measures a point: the rates of all repetitions beside bare puts, then once the time of each message,
/// then the peers. The result is complete on rank 0.
Json measure_pattern(const PatternsConfig& config, BenchRun& run, const PatternsPoint& point);

}  // namespace eventloom
