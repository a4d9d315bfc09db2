#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/control_wire.hpp"

namespace eventloom {

class OutputFile;

/// A counter of the run, or of one of its sources.
struct CounterRecord {
  std::uint32_t source = 0;  ///< set for a source's counters
  std::string name;
  std::string unit;  ///< empty for a plain number
  std::uint64_t value = 0;
};

/// A bin of the latency histogram; bins ascend.
struct LatencyRecord {
  double low_ns = 0;
  double high_ns = 0;
  std::uint64_t events = 0;
};

/// How a builder spent the time from the first slice to the last.
struct BuilderRecord {
  std::uint32_t builder = 0;
  std::uint32_t rank = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t idle_ns = 0;
};

/// Rates of the run at one moment.
struct RateRecord {
  double time_s = 0;  ///< since the first slice
  double hits_per_s = 0;
  double bytes_per_s = 0;
  double events_per_s = 0;
  double latency_p50_ns = 0;  ///< NaN when unknown
  double latency_p99_ns = 0;
};

/// An alarm of --alarm that was raised. Times are UTC.
struct AlarmRecord {
  std::string condition;  ///< "rate:3<100"
  std::string quantity;   ///< "rate:3"
  std::string unit;       ///< unit of limit and value; empty for a plain number
  std::string raised;
  std::string over;  ///< empty when still raised at the end of the run
  double limit = 0;
  double value = 0;  ///< value when it was raised
};

/// Counts and measurements of a run beyond the sums over its slices. A list is empty when it was not measured.
/// Counters, latency and alarms cover all invocations that ended normally, the others only the last of these.
struct RunStatistics {
  std::vector<CounterRecord> counters;
  std::vector<CounterRecord> of_sources;  ///< ordered by source
  std::vector<LatencyRecord> latency;
  std::vector<ClockQuality> clocks;  ///< ordered by rank
  std::vector<BuilderRecord> builders;
  std::vector<RateRecord> rates;
  std::vector<AlarmRecord> alarms;  ///< ordered by time
};

/// Writes a group with a column per member for each list that is not empty.
void write_statistics(const OutputFile& file, const RunStatistics& statistics);

/// Reads the statistics of run.h5; empty in files of earlier versions and in merged files beside it. Throws UserError
/// when they are damaged.
RunStatistics read_statistics(const std::filesystem::path& path);

}  // namespace eventloom
