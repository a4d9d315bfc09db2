#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/control_wire.hpp"

namespace eventloom {

class OutputFile;

/// A counter of the run, or of one of its sources, which then has one record for each that it reports.
struct CounterRecord {
  std::uint32_t source = 0;  ///< of those of sources
  std::string name;
  std::string unit;  ///< empty where the value is a number of another kind
  std::uint64_t value = 0;
};

/// Events whose latency lies between two values, neighbouring bins in rising order.
struct LatencyRecord {
  double low_ns = 0;
  double high_ns = 0;
  std::uint64_t events = 0;
};

/// What a builder did with the time between the first slice and the last.
struct BuilderRecord {
  std::uint32_t builder = 0;
  std::uint32_t rank = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t idle_ns = 0;
};

/// What the run did at one moment.
struct RateRecord {
  double time_s = 0;  ///< since its first slice
  double hits_per_s = 0;
  double bytes_per_s = 0;
  double events_per_s = 0;
  double latency_p50_ns = 0;  ///< not a number where it is not known
  double latency_p99_ns = 0;
};

/// An alarm of --alarm that was raised. Times are UTC.
struct AlarmRecord {
  std::string condition;  ///< "rate:3<100"
  std::string quantity;   ///< "rate:3"
  std::string unit;       ///< of limit and value; empty: a plain number
  std::string raised;
  std::string over;  ///< empty: it was not over when the run ended
  double limit = 0;
  double value = 0;  ///< when it was raised
};

/// What a run has counted and measured beyond the sums over its slices; what was not is empty. Counters, latency
/// and alarms are those of all invocations that ended in good order, the others of the last one.
struct RunStatistics {
  std::vector<CounterRecord> counters;
  std::vector<CounterRecord> of_sources;  ///< by source
  std::vector<LatencyRecord> latency;
  std::vector<ClockQuality> clocks;  ///< by rank
  std::vector<BuilderRecord> builders;
  std::vector<RateRecord> rates;
  std::vector<AlarmRecord> alarms;  ///< in the order of time
};

/// A group with a column per member for each list that is not empty.
void write_statistics(const OutputFile& file, const RunStatistics& statistics);

/// Those of run.h5; nothing where a file of an earlier version, or a merged file, has none. Throws UserError when they
/// are damaged.
RunStatistics read_statistics(const std::filesystem::path& path);

}  // namespace eventloom
