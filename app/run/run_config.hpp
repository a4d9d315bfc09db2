#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/alarm_condition.hpp"
#include "app/observe/monitor.hpp"
#include "app/observe/progress.hpp"
#include "app/run/define_option.hpp"
#include "app/run/run_detector.hpp"
#include "app/run/tap_option.hpp"
#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/detector/detector.hpp"
#include "core/engine/ring_rule.hpp"
#include "formats/geometry.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// The options of `eventloom run`. Lengths of time stay text until the run's tick is known.
struct RunConfig {
  std::vector<std::string> sources;
  std::uint32_t builders = 0;  ///< 0: as many as ranks
  std::uint32_t filters = 0;
  std::string schedule;
  std::uint64_t slot_ns = 0;         ///< 0: slots are kept by order only
  std::vector<DefineOption> define;  ///< never empty
  std::vector<std::string> filter;
  std::size_t explain = 0;  ///< events for which the filters' terms are explained
  DetectorOptions detector;
  std::optional<std::uint64_t> epochs_per_slice;  ///< nothing: as the length of an epoch suggests
  std::string overlap;  ///< empty: one epoch, or 20 times the longest length in the definition
  TimeBaseOptions time_base;
  std::string time_origin;        ///< UTC of tick 0 as utc_text() writes it; empty: not given
  std::string output;             ///< with named definitions the index of their run files
  std::vector<std::string> also;  ///< list-mode files beside the parts, as given
  bool no_payload = false;        ///< parts have hits without payload
  double speed = 0;
  std::string report_json;
  std::string save_sorted;  ///< folder for the time-sorted hits; empty: none
  RingOptions ring;
  std::uint32_t slices_in_flight = 4;
  std::uint32_t transfers_in_flight = 0;  ///< 0: by the length of messages
  unsigned compress = 0;
  std::uint64_t segment_bytes = 0;
  std::chrono::nanoseconds segment_time{};
  std::string scratch;  ///< node-local folder for parts while they are written; empty: none
  bool resume = false;
  bool force = false;                   ///< replace a finished run of this output; with `resume` only a finished one
  std::uint64_t loops = 1;              ///< passes over recorded sources
  std::chrono::nanoseconds duration{};  ///< 0: until the sources end
  std::chrono::nanoseconds epoch_timeout{};
  std::chrono::nanoseconds flush_after{};  ///< 0: slices have the requested length
  LiveOptions live;
  std::chrono::nanoseconds stall_warning{};
  std::chrono::nanoseconds stall_timeout{};  ///< 0: never
  ProgressStyle progress = ProgressStyle::automatic;
  bool quiet = false;                      ///< only errors are reported
  std::optional<MonitorSettings> monitor;  ///< nothing: no port is opened
  std::optional<TapOption> tap;            ///< likewise
  std::vector<AlarmCondition> alarms;
  std::vector<std::string> alarm_command;  ///< words; empty: none
  std::string config_file;                 ///< of --config; empty: none
  std::string effective;                   ///< the full setup as an INI file
};

/// Nothing when --help or --print-config was asked for. Throws UserError.
std::optional<RunConfig> parse_run_config(int argc, const char* const* argv);

/// Parts of the configuration that depend on the clock of the run.
struct RunDefinition {
  SliceGeometry geometry;            ///< with the margin of the widest events
  bool flushes_early = false;        ///< its slices are shorter than requested, by --flush-after
  std::vector<WantedEvents> events;  ///< in the order of RunConfig::define
  EventFilter filter;
  DetectorPtr detector = std::make_shared<Detector>();  ///< never null
};
/// Width of the bins of the histograms saved with time-sorted hits, which suits the first events.
Tick histogram_ticks(const RunDefinition& run);
/// Of events without --overlap.
Tick default_overlap(const EventDefinition& definition, const TimeBase& base);

/// The clock of a run's times.
struct RunClock {
  TimeBase base;
  bool numbered = false;  ///< times are event numbers
};
/// `detector`: never null; until the sources are known it knows no more than the names of groups. Throws UserError.
RunDefinition interpret(const RunConfig& config, const RunClock& clock, DetectorPtr detector);

/// Whether the definitions have names, and run files of their own.
inline bool has_index(const RunConfig& config) { return !config.define.front().name.empty(); }
/// The run as if each definition were the only one, with its own run file.
std::vector<RunConfig> by_definition(const RunConfig& config);

/// Throws UserError when a definition contains a length of time above the overlap.
void require_whole_events(const RunConfig& config, const RunDefinition& run);

/// The lengths of a run, for the user: "ticks of 1ns, epochs of 10us, slices of 100 epochs (1ms), overlap 10us".
/// `numbered`: times are event numbers.
std::string in_force(const RunConfig& config, const RunDefinition& run, bool numbered);

}  // namespace eventloom
