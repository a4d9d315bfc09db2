#include "app/run/run_definition.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "app/command/options.hpp"
#include "app/run/wanted_stretch.hpp"
#include "core/dataflow/dead_time.hpp"
#include "core/definitions/definitions.hpp"
#include "core/definitions/per_source.hpp"
#include "core/runtime/error.hpp"
#include "formats/duration_text.hpp"
#include "formats/sorted_hit.hpp"
#include "formats/units.hpp"
#include "io/recorded/default_epoch.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

namespace {

std::uint64_t epoch_ps(const TimeBase& base) { return base.tick_ps * base.epoch_ticks; }

/// Returns the largest width of the time corrections of any source.
Tick widest_correction(const Detector& detector) {
  Tick widest = 0;
  for (const auto& span : stream_offsets(detector, false, detector.sources())) widest = std::max(widest, span.width());
  return widest;
}

/// Returns the default number of epochs per slice. `geometry` includes the margins: with the margins of long events,
/// fewer epochs fit a builder.
std::uint64_t default_epochs(SliceGeometry geometry, const RunClock& clock, const Detector& detector) {
  geometry.epochs_per_slice = clock.numbered ? kLeastDefaultEpochs : default_epochs_per_slice(epoch_ps(clock.base));
  // Otherwise most data would be sent and sorted many times over.
  constexpr std::uint64_t kFar = 8;
  const std::uint64_t margin = geometry.margin_epochs().value;
  if (!clock.numbered && margin > kFar * geometry.epochs_per_slice) geometry.epochs_per_slice = margin;
  const Tick apart = widest_correction(detector);
  while (geometry.epochs_per_slice > kLeastDefaultEpochs && !fits_a_builder(geometry, apart)) {
    geometry.epochs_per_slice = std::max(geometry.epochs_per_slice / 2, kLeastDefaultEpochs);
  }
  return geometry.epochs_per_slice;
}

/// Limits the requested or default number of epochs per slice to --flush-after.
std::uint64_t chosen_epochs(const BuildingSettings& settings, std::uint64_t wanted, const TimeBase& base) {
  if (settings.flush_after.count() <= 0) return wanted;
  const auto epochs = steps_in(static_cast<std::uint64_t>(settings.flush_after.count()), epoch_ps(base));
  return std::clamp<std::uint64_t>(epochs, 1, wanted);
}

}  // namespace

Tick histogram_ticks(const RunDefinition& run) {
  return histogram_bin_ticks(run.events.front().definition->traits().bin_ticks, run.geometry.base.epoch_ticks);
}

Tick default_overlap(const EventDefinition& definition, const TimeBase& base) {
  constexpr std::uint64_t kLengths = 20;
  const Tick longest = definition.traits().longest_length;
  const Tick most = std::numeric_limits<Tick>::max();
  return std::max(Tick(base.epoch_ticks), longest > most / kLengths ? most : kLengths * longest);
}

RunDefinition interpret(const BuildingSettings& settings, const RunClock& clock, DetectorPtr detector) {
  const auto& base = clock.base;
  const auto ticks = clock.ticks();
  RunDefinition run;
  run.detector = std::move(detector);
  for (const auto& define : settings.definitions) {
    const auto given = define.given();
    auto definition = parse_event_definition(given, ticks, run.detector, given.size() - define.text.size());
    if (settings.per_source) definition = parsed("per-source", [&] { return per_source(std::move(definition)); });
    const Tick overlap = settings.overlap.empty()
                             ? default_overlap(*definition, base)
                             : parsed("overlap", [&] { return parse_length(settings.overlap, ticks); });
    run.events.push_back({std::move(definition), overlap});
  }
  run.filters = settings.filters;
  run.filter = EventFilter(run.detector);
  for (const auto& expression : settings.filters) run.filter.add(expression, ticks);
  run.reply_if = EventFilter(run.detector, Setting::reply_if);
  for (const auto& expression : settings.reply_if) run.reply_if.add(expression, ticks);
  run.filter_command = settings.filter_command;
  if (!run.filter_command.text.empty()) run.filters.push_back(kFilterCommand + run.filter_command.text);
  if (!settings.histograms.empty()) run.histograms = std::make_shared<HistogramSet>(run.detector);
  for (const auto& text : settings.histograms) run.histograms->add(text, ticks);
  run.stretch = wanted_stretch(settings.from, settings.to, clock);
  auto& geometry = run.geometry;
  geometry.base = base;
  geometry.history = dead_time_history(run.detector->longest_dead_time());
  geometry = widest(geometry, run.events);
  const auto wanted = settings.epochs_per_slice.value_or(default_epochs(geometry, clock, *run.detector));
  geometry.epochs_per_slice = chosen_epochs(settings, wanted, base);
  run.flushes_early = geometry.epochs_per_slice != wanted;
  return run;
}

void require_whole_events(const BuildingSettings& settings, const RunDefinition& run, bool numbered) {
  const auto& base = run.geometry.base;
  const auto text = [&](Tick ticks) {
    return numbered ? std::to_string(ticks.value) : duration_text(ticks, base.tick_ps);
  };
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const auto& [definition, overlap, use_tags] = run.events[i];
    const Tick longest = definition->traits().longest_length;
    if (longest <= overlap) continue;
    throw UserError("--define '" + settings.definitions[i].given() + "' spans " + text(longest) +
                    ", longer than --overlap " + text(overlap) + ": every such event would be cut; use --overlap " +
                    text(default_overlap(*definition, base)) + ", or omit --overlap");
  }
}

std::string in_force(const BuildingSettings& settings, const RunDefinition& run, bool numbered) {
  const auto& geometry = run.geometry;
  const auto& base = geometry.base;
  const auto text = [&](Tick ticks) {
    return numbered ? std::to_string(ticks.value) + " event numbers" : duration_text(ticks, base.tick_ps);
  };
  std::string all = numbered ? "" : "ticks of " + text(1) + ", ";
  all += "epochs of " + text(Tick(base.epoch_ticks)) + ", slices of " + std::to_string(geometry.epochs_per_slice) +
         " epochs (" + text(geometry.slice_ticks()) + ")";
  if (run.flushes_early) all += " by --flush-after";
  all += ", overlap ";
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    all += (i == 0 ? "" : ", ") + text(run.events[i].overlap);
    const auto& name = settings.definitions[i].name;
    if (!name.empty()) all += " (" + name + ")";
  }
  return all;
}

}  // namespace eventloom
