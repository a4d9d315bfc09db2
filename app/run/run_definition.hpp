#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_clock.hpp"
#include "app/run/run_detector.hpp"
#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/detector/detector.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// A program of the user that judges events after the filters.
struct FilterCommandOption {
  std::string text;                    ///< the value of the option; empty: none
  std::vector<std::string> words;      ///< the program and its arguments
  std::chrono::nanoseconds timeout{};  ///< longest time in which it neither reads nor answers
};

/// Definition of events and slices. Durations stay text until the tick of the run is known.
struct BuildingSettings {
  std::vector<DefineOption> definitions;  ///< never empty
  bool per_source = false;                ///< each definition applies to the hits of each source alone
  std::vector<std::string> filters;       ///< expressions
  FilterCommandOption filter_command;
  std::vector<std::string> reply_if;    ///< expressions
  std::vector<std::string> histograms;  ///< texts of --hist
  std::string from;  ///< beginning of the stretch of time to build, see wanted_stretch(); empty: no bound
  std::string to;    ///< its end, likewise
  DetectorOptions detector;
  std::optional<std::uint64_t> epochs_per_slice;  ///< not set: derived from the length of an epoch
  std::string overlap;                            ///< empty: see default_overlap()
  std::chrono::nanoseconds flush_after{};         ///< 0: slices have the requested length
};

/// The building settings in terms of the run's clock.
struct RunDefinition {
  SliceGeometry geometry;            ///< includes the margin of the widest events
  bool flushes_early = false;        ///< --flush-after makes slices shorter than requested
  std::vector<WantedEvents> events;  ///< one per definition, in their order
  std::vector<std::string> filters;  ///< expressions as given, and the text of the filter command
  EventFilter filter;
  FilterCommandOption filter_command;
  EventFilter reply_if;                                 ///< selects the events that are sent to boards
  TickRange stretch = kAllTime;                         ///< hits at other times are dropped
  std::shared_ptr<HistogramSet> histograms;             ///< null: none
  DetectorPtr detector = std::make_shared<Detector>();  ///< never null
};
/// Bin width of the histograms saved with time-sorted hits; it suits the first definition.
Tick histogram_ticks(const RunDefinition& run);
/// Overlap without --overlap: one epoch, or 20 times the longest length in the definition.
Tick default_overlap(const EventDefinition& definition, const TimeBase& base);

/// `detector`: never null; before the sources are known it has only the names of groups. Throws UserError.
RunDefinition interpret(const BuildingSettings& settings, const RunClock& clock, DetectorPtr detector);

/// Throws UserError if a definition contains a duration longer than the overlap. `numbered`: times are event numbers.
void require_whole_events(const BuildingSettings& settings, const RunDefinition& run, bool numbered);

/// Describes the lengths in use: "ticks of 1ns, epochs of 10us, slices of 100 epochs (1ms), overlap 10us". `numbered`:
/// times are event numbers.
std::string in_force(const BuildingSettings& settings, const RunDefinition& run, bool numbered);

}  // namespace eventloom
