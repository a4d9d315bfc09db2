#include "app/run/run_setup.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "app/command/mpi_command.hpp"
#include "app/command/ring_options.hpp"
#include "app/command/same_setup.hpp"
#include "app/command/schedule_table.hpp"
#include "app/document/json_message.hpp"
#include "app/run/message_length.hpp"
#include "app/run/run_sources.hpp"
#include "app/run/time_origin.hpp"
#include "core/dataflow/live_stream.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/text_error.hpp"
#include "io/recorded/channel_words.hpp"
#include "io/recorded/unread_columns.hpp"
#include "io/registry/clock_eras.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/source_turns.hpp"
#include "io/registry/time_scale.hpp"
#include "io/registry/unread_columns.hpp"

namespace eventloom {

namespace {

SourceInfo info_of(const SourceSpec& spec, const LocalSource& local, const SourceSettings& settings) {
  auto& source = *local.stream;
  const auto& header = source.header();
  const auto input = source.input();
  const auto peer = local.live == nullptr ? LivePeer{} : local.live->peer();
  SourceInfo info;
  info.name = source.name();
  info.uri = is_followed(spec.uri) ? placed_uri(spec).text() : spec.uri.text();
  info.path = input.path;
  info.bytes = input.bytes;
  info.crc32c = input.crc32c;
  info.recorded_id = header.source;
  info.base = header.base;
  info.payload = header.payload;
  info.flags = header.flags;
  info.text = header.text;
  info.payload_names = header.payload_names;
  info.first_epoch = source.first_epoch();
  info.live = local.live != nullptr;
  info.followed = is_followed(spec.uri);
  if (spec.uri.get("jumps", "") == "new-era") info.era_clock = clock_of(spec);
  if (!info.live) info.epoch_bytes = epoch_bytes(source, settings.loops);
  info.joined = peer.joined;
  info.had_run = settings.shelf != nullptr && settings.shelf->had_run(local.id);
  info.wraps_after = peer.wraps_after;
  info.counts_tai = counts_tai(spec.uri);
  info.started_ns = peer.started_ns;
  info.clock_behind_ns = peer.clock_behind_ns;
  info.origin_ns = stated_origin(spec.uri, header.base.tick_ps);
  return info;
}

Json describe(const SourceSpec& spec, const LocalSource& local, const SourceSettings& settings) {
  Json json = to_json(local.id, info_of(spec, local, settings));
  // One manifest describes all streams of its folder.
  const auto sorted = local.id.value == 0 ? sorted_manifest(spec.uri) : std::nullopt;
  if (sorted) json["sorted"] = to_json(*sorted);
  return json;
}

/// The sources of this rank, for take_info().
Json describe_local(const RunSetup& setup, const std::vector<SourceSpec>& specs, const SourceSettings& settings) {
  std::vector<SourceSpec> local;
  for (const auto& source : setup.local) local.push_back(specs[source.id.value]);
  const auto unread = unread_columns(local);
  auto described = Json::array();
  for (std::size_t s = 0; s < local.size(); ++s) {
    described.push_back(describe(local[s], setup.local[s], settings));
    if (!unread[s].empty()) described.back()["unread"] = unread[s];
  }
  return described;
}

/// Rank 0 reports once for all sources.
void report_unread(const RunSetup& setup, const std::vector<Json>& described) {
  std::map<std::size_t, std::vector<std::string>> by_source;
  for (const auto& of_rank : described) {
    for (const auto& json : of_rank) {
      if (json.contains("unread")) by_source[json.at("id").get<std::size_t>()] = json["unread"];
    }
  }
  std::vector<UnreadColumns> unread;
  for (auto& [id, columns] : by_source) unread.push_back({setup.streams[id].name, std::move(columns)});
  if (const auto message = unread_message(unread); !message.empty()) log::info("{}", message);
}

/// Whether builders change times of hits or drop hits at the user's request.
bool changes_hits(const RunDefinition& run) {
  return run.detector->corrects() || run.detector->longest_dead_time() > 0 || run.stretch != kAllTime;
}

/// Determines how time-sorted streams are read.
void resolve_sorted(RunSetup& setup, const std::optional<SortedInfo>& sorted) {
  const auto is_sorted = [](const SourceInfo& s) { return (s.flags & kSorted) != 0; };
  const auto n_sorted = std::ranges::count_if(setup.streams, is_sorted);
  if (n_sorted == 0) return;
  const bool whole = sorted && sorted->streams == setup.streams.size();
  if (!whole || static_cast<std::size_t>(n_sorted) != setup.streams.size()) {
    throw UserError("time-sorted streams must be read alone and as a whole: use a single '--source sorted:DIR'");
  }
  for (auto& wanted : setup.run.events) {
    const auto traits = wanted.definition->traits();
    // Events by number are matched again: their tags cover all hits of a number. Groups, positions and gains may be
    // others than those of the run that tagged the hits, and hits may be corrected only now.
    wanted.use_tags = traits.finds_runs && !traits.needs_numbers && !traits.uses_detector() &&
                      !changes_hits(setup.run) && sorted->definition == wanted.definition->text() &&
                      sorted->overlap == wanted.overlap;
  }
  setup.sorted = SortedInput{static_cast<std::uint32_t>(setup.sources.size())};
}

bool is_numbered(const SourceInfo& source) { return (source.flags & kNumbered) != 0; }

void require_one_clock(const std::vector<SourceInfo>& sources) {
  const auto& first = sources.front();
  for (const auto& source : sources) {
    if (is_numbered(source) != is_numbered(first)) {
      throw UserError("the times of '" + (is_numbered(source) ? source : first).name +
                      "' are event numbers, those of '" + (is_numbered(source) ? first : source).name +
                      "' are not: a run cannot mix the two; choose time= in the source's URI, or numbered=yes where "
                      "columns hold numbers");
    }
    if (source.base == first.base) continue;
    throw UserError("'" + source.name + "' has ticks of " + std::to_string(source.base.tick_ps) + " ps and epochs of " +
                    std::to_string(source.base.epoch_ticks) + " ticks, '" + first.name + "' " +
                    std::to_string(first.base.tick_ps) + " ps and " + std::to_string(first.base.epoch_ticks) +
                    "; convert them to one clock with 'eventloom convert'");
  }
}

void require_same_words(const std::vector<SourceInfo>& streams) {
  std::vector<DescribedSource> sources;
  for (const auto& stream : streams) sources.push_back({stream.name, stream.uri, stream.text});
  eventloom::require_same_words(sources);
}

void require_slice_fits(const RunSetup& setup) {
  const auto& geometry = setup.run.geometry;
  if (!fits_a_builder(geometry, 0)) {
    throw UserError(
        "a slice with its overlap and the reach of the event definition on both sides must be shorter than 2^36 ticks; "
        "use fewer --epochs-per-slice, a shorter --overlap or a coarser --tick");
  }
  for (std::size_t s = 0; s < setup.offsets.size(); ++s) {
    const Tick apart = setup.offsets[s].width();
    if (fits_a_builder(geometry, apart)) continue;
    throw UserError(
        "--detector: the offsets within source " + std::to_string(s) + " (" + setup.streams[s].name + ") differ by " +
        std::to_string(apart.value) +
        " ticks, more than fits, with a slice and its overlap, into 2^36; use a coarser --tick, or make the "
        "times of its channels agree when they are converted");
  }
}

/// Live sources that begin more than an hour apart are out of step.
Epoch most_apart(const SourceInfo& source) {
  constexpr double kMostApart_s = 3600;
  if (is_numbered(source)) return std::numeric_limits<Epoch>::max();
  return static_cast<Epoch>(std::min(kMostApart_s * epochs_per_second(source.base), 0x1p62));
}

/// Returns the streams, with first epochs in corrected times.
std::vector<SourceInfo> corrected_streams(const RunSetup& setup) {
  auto streams = setup.streams;
  for (std::size_t s = 0; s < setup.offsets.size(); ++s) {
    auto& first = streams[s].first_epoch;
    if (first) first = first_corrected(*first, setup.offsets[s], setup.run.geometry.base.epoch_ticks);
  }
  return streams;
}

/// Whether a source begins at `first` or shortly after.
bool begins_with(const SourceInfo& source, Epoch first) {
  return source.first_epoch && *source.first_epoch >= first && *source.first_epoch - first <= most_apart(source);
}

/// Recordings have data from their beginning, also those that are followed, unless an earlier run has had that.
bool is_recorded(const SourceInfo& source) { return !source.live || (source.followed && !source.had_run); }

/// Returns the first epoch of most live sources: a single clock that is wrong at the start must not determine where the
/// run begins.
std::optional<Epoch> first_live_epoch(const std::vector<SourceInfo>& sources) {
  std::optional<Epoch> found;
  std::ptrdiff_t most = 0;
  for (const auto& source : sources) {
    if (is_recorded(source) || !source.first_epoch) continue;
    const auto n = std::ranges::count_if(sources, [&](const SourceInfo& other) {
      return !is_recorded(other) && begins_with(other, *source.first_epoch);
    });
    if (n < most || (n == most && found < source.first_epoch)) continue;
    most = n;
    found = source.first_epoch;
  }
  return found;
}

/// Returns the first epoch of any source; 0 without data.
Epoch first_epoch_of(const std::vector<SourceInfo>& sources) {
  std::optional<Epoch> first = first_live_epoch(sources);
  for (const auto& source : sources) {
    if (is_recorded(source) && source.first_epoch && (!first || *source.first_epoch < *first))
      first = source.first_epoch;
  }
  return first.value_or(Epoch(0));
}

/// If sources were joined while sending, the run begins with the first slice that is complete in all of them, unless a
/// recording begins earlier.
SliceId first_slice_of(const RunSetup& setup) {
  const auto& geometry = setup.run.geometry;
  const auto sources = corrected_streams(setup);
  const Epoch first = first_epoch_of(sources);
  const auto live = first_live_epoch(sources);
  SliceId whole = geometry.slice_of(first);
  Epoch recorded = std::numeric_limits<Epoch>::max();
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto& source = sources[s];
    if (!source.first_epoch) continue;
    const bool counts = !is_recorded(source) && source.joined && begins_with(source, *live);
    const auto offsets = setup.offsets.empty() ? OffsetSpan{} : setup.offsets[s];
    const Epoch whole_from = last_corrected(*setup.streams[s].first_epoch, offsets, geometry.base.epoch_ticks);
    if (counts) whole.value = std::max(whole.value, geometry.slice_of(whole_from).value + 1);
    if (is_recorded(source)) recorded = std::min(recorded, *source.first_epoch);
  }
  return recorded < geometry.owned_epochs(whole).begin ? geometry.slice_of(first) : whole;
}

bool has_far_clock(const SourceInfo& source) { return source.clock_behind_ns && is_far_clock(*source.clock_behind_ns); }

/// Returns the Unix time of tick 0 according to the first source that knows it and whose clock is comparable with those
/// of hosts; 0: unknown.
std::int64_t started_ns_of(const std::vector<SourceInfo>& sources) {
  const auto found =
      std::ranges::find_if(sources, [](const SourceInfo& s) { return s.started_ns != 0 && !has_far_clock(s); });
  return found == sources.end() ? 0 : found->started_ns;
}

void report_far_clocks(const std::vector<SourceInfo>& sources) {
  for (const auto& source : sources) {
    if (has_far_clock(source)) log::warn("{}: {}", source.name, clock_remark(*source.clock_behind_ns));
  }
}

/// Returns the list of sources and the detector map, which every rank has read, for require_same_setup().
std::string files_given(const DetectorMap& detector, const std::vector<SourceSpec>& specs) {
  std::string text;
  for (const auto& spec : specs) text += "the list of sources = " + spec.uri.text() + "\n";
  std::istringstream map(detector.text);
  for (std::string line; std::getline(map, line);) text += "the detector map = " + line + "\n";
  return text;
}

/// Fills in what is known before the streams are open.
void expect_streams(RunSetup& setup, const std::vector<SourceSpec>& specs) {
  for (const auto& spec : specs) {
    SourceInfo info;
    info.name = info.uri = spec.uri.text();
    info.live = is_live(spec.uri);
    info.followed = is_followed(spec.uri);
    setup.streams.push_back(std::move(info));
  }
  setup.live = std::ranges::any_of(setup.streams, &SourceInfo::live);
  setup.all_live = std::ranges::all_of(setup.streams, &SourceInfo::live);
  setup.any_followed = std::ranges::any_of(setup.streams, &SourceInfo::followed);
}

/// Adds the range of wrapping numbers to those that have wrapped: all begin within half the range of the highest.
void align_wrapping(std::vector<SourceInfo>& streams) {
  Epoch newest = 0;
  for (const auto& stream : streams) {
    if (stream.wraps_after != 0) newest = std::max(newest, stream.first_epoch.value_or(Epoch(0)));
  }
  for (auto& stream : streams) {
    if (stream.wraps_after == 0 || !stream.first_epoch) continue;
    while (newest > *stream.first_epoch + stream.wraps_after / 2) *stream.first_epoch += stream.wraps_after;
  }
}

/// `described`: descriptions of the opened streams of all ranks.
std::optional<SortedInfo> take_info(RunSetup& setup, const std::vector<Json>& described) {
  std::optional<SortedInfo> sorted;
  for (const auto& of_rank : described) {
    for (const auto& json : of_rank) {
      setup.streams.at(json.at("id").get<std::size_t>()) = info_from_json(json);
      if (json.contains("sorted")) sorted = sorted_from_json(json["sorted"]);
    }
  }
  align_wrapping(setup.streams);
  return sorted;
}

/// Refuses definitions and filters that need quantities which the sources and the detector lack.
void require_known_quantities(const BuildingSettings& building, RunSetup& setup) {
  for (std::size_t i = 0; i < setup.run.events.size(); ++i) {
    const auto given = building.definitions[i].given();
    const auto refuse = [&](const std::string& name, std::string_view why) {
      throw TextError("--define '" + shortened(given) + "': '" + name + "' " + std::string(why),
                      marked_word(given, name));
    };
    const auto traits = setup.run.events[i].definition->traits();
    if (traits.uses(Quantity::Kind::causal) && !setup.run.detector->has_positions())
      refuse("causal", "needs the positions of channels: give x_m, y_m and z_m in --detector MAP.csv");
    const bool has_positions = setup.run.detector->has_positions();
    const bool have_pixels =
        std::ranges::all_of(setup.sources, [](const auto& source) { return (source.flags & kPixels) != 0; });
    if (traits.needs_positions && !has_positions && !have_pixels)
      refuse("cluster",
             "needs the positions of channels: give x_m, y_m and z_m in --detector MAP.csv, or sources with "
             "pixels (tpx3:)");
    if (!traits.length_in_metres.empty() && !has_positions)
      refuse(std::string(traits.length_in_metres),
             "is a length, and without positions in --detector MAP.csv those of this run are pixels: use a plain "
             "number of pixels");
    if (traits.uses_values() && !setup.with_payload)
      refuse(traits.condition->term_with_values()->subject, kNeedsValues);
  }
  std::vector<std::uint32_t> flags;
  for (const auto& source : setup.sources) flags.push_back(source.flags);
  if (setup.run.histograms) setup.run.histograms->set_streams(flags, setup.with_payload);
  setup.run.reply_if.set_streams(flags, setup.with_payload);
  setup.run.filter.set_streams(std::move(flags), setup.with_payload);
}

/// Whether a quantity selects only sources beyond the last.
bool counts_beyond(const Quantity& quantity, std::size_t n_sources) {
  const auto beyond = [&](const HitSelection& hits) {
    return hits.of == HitSelection::Of::source && hits.low >= n_sources;
  };
  if (quantity.selects()) return beyond(quantity.hits) || beyond(quantity.later);
  return quantity.kind == Quantity::Kind::source && quantity.low >= n_sources;
}

/// A condition on sources that do not exist counts nothing, which is probably a mistake.
void report_sources_beyond(const RunSetup& setup) {
  std::vector<const Expression*> conditions;
  for (const auto& events : setup.run.events) conditions.push_back(events.definition->traits().condition);
  for (const auto& filter : setup.run.filter.expressions()) conditions.push_back(&filter);
  for (const auto& wanted : setup.run.reply_if.expressions()) conditions.push_back(&wanted);
  std::erase(conditions, nullptr);
  for (const auto* condition : conditions) {
    for (const auto& term : condition->terms()) {
      if (!counts_beyond(term.quantity, setup.sources.size())) continue;
      log::warn("'{}' in '{}' counts no hit: the last source of this run is {}", term.subject,
                shortened(condition->text()), setup.sources.size() - 1);
    }
  }
}

/// Whether a source has not said whether its hits have payload.
bool is_unheard(const SourceInfo& source) { return source.live && !source.followed && !source.first_epoch; }

void resolve_setup(RunSetup& setup, const BuildingSettings& building, const std::optional<SortedInfo>& sorted) {
  setup.sources = sorted ? sorted->sources : setup.streams;
  setup.numbered = is_numbered(setup.sources.front());
  const auto& base = setup.streams.front().base;
  DetectorSources known{{}, base.tick_ps, setup.numbered};
  for (const auto& source : setup.sources) known.names.push_back(source.name);
  setup.detector = detector_of(building.detector, known);
  setup.run = interpret(building, {base, setup.numbered, setup.time_of_tick_0}, setup.detector.detector);
  require_whole_events(building, setup.run, setup.numbered);
  setup.with_payload =
      setup.with_payload || std::ranges::any_of(setup.sources, [](const auto& s) { return s.payload.any(); });
  require_known_quantities(building, setup);
  resolve_sorted(setup, sorted);
  setup.offsets = stream_offsets(*setup.run.detector, setup.sorted.has_value(), setup.streams.size());
  require_slice_fits(setup);
  setup.started_ns = started_ns_of(setup.streams);
}

/// Time-sorted hits: their streams, not their original sources, state the origin.
void take_time_origin(RunSetup& setup, const std::string& given, bool reports) {
  auto origin = find_time_origin(given, setup.streams);
  setup.time_of_tick_0 = std::move(origin.time_of_tick_0);
  if (!reports) return;
  for (const auto& contradiction : origin.contradictions) log::warn("{}", contradiction);
}

/// Findings of rank 0 on a source: it alone has compared the files and looked for turns and jumps.
Json found_of(const SourceSpec& spec) {
  auto eras = Json::array();
  for (const auto& era : spec.eras) eras.push_back({era.begin.value, era.added.value});
  Json found{{"copy", spec.copy}, {"turns", spec.turns}, {"eras", eras}};
  if (spec.next_first) found["next_first"] = *spec.next_first;
  return found;
}

void share_found(std::vector<SourceSpec>& specs, const Collective& ranks) {
  auto found = Json::array();
  for (const auto& spec : specs) found.push_back(found_of(spec));
  found = broadcast_json(ranks, found);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const auto& of_source = found.at(s);
    specs[s].copy = of_source.at("copy");
    specs[s].turns = of_source.at("turns");
    if (of_source.contains("next_first")) specs[s].next_first = of_source.at("next_first").get<std::uint64_t>();
    specs[s].eras.clear();
    for (const auto& era : of_source.at("eras")) {
      specs[s].eras.push_back({Tick(era.at(0).get<std::uint64_t>()), Tick(era.at(1).get<std::uint64_t>())});
    }
  }
}

/// Whether events are defined by their numbers.
bool is_by_number(const BuildingSettings& building) {
  return std::ranges::any_of(building.definitions, [](const auto& define) { return define.text == "tag"; });
}

}  // namespace

Roles assign_roles(const ExchangeSettings& exchange, const std::vector<SourceSpec>& specs, int ranks) {
  if (specs.size() > std::numeric_limits<std::uint16_t>::max()) throw UserError("more than 65535 sources");
  Roles roles;
  roles.ranks = ranks;
  roles.sources = static_cast<std::uint32_t>(specs.size());
  for (const auto& spec : specs) roles.homes.push_back(spec.home);
  roles.builders = exchange.builders == 0 ? static_cast<std::uint32_t>(ranks) : exchange.builders;
  roles.filters = exchange.filters;
  return roles;
}

SliceId first_slice_with_data(const RunSetup& setup) {
  return setup.run.geometry.slice_of(first_epoch_of(corrected_streams(setup)));
}

void keep_feeds(const SourceSettings& sources, const ExchangeSettings& exchange, const Collective& ranks,
                FeedsKept which) {
  agree(ranks, [&] {
    const auto specs = expand_sources(sources.uris);
    keep_feeds(sources, specs, assign_roles(exchange, specs, ranks.size()), ranks.rank(), which);
  });
}

RunSetup set_up_run(const SourceSettings& sources, const BuildingSettings& building, const ExchangeSettings& exchange,
                    const Communicator& communicator, SetupWatch& watch) {
  RunSetup setup;
  std::vector<SourceSpec> specs;
  agree(communicator, [&] {
    specs =
        communicator.rank() == 0 ? expand_and_compare(sources.uris, sources.uris_before) : expand_sources(sources.uris);
    if (communicator.rank() == 0) place_eras_of_clocks(specs, sources.time_base);
    for (auto& spec : specs) spec.by_number = is_by_number(building);
    setup.roles = assign_roles(exchange, specs, communicator.size());
  });
  require_same_setup(communicator, files_given(building.detector.map, specs));
  share_found(specs, communicator);
  setup.schedule = exchange.schedule;
  setup.schedule.table_text = schedule_table_text(exchange.schedule.name, communicator);
  setup.hosts = communicator.all_gather(host_name());
  expect_streams(setup, specs);
  watch.expect(setup);
  agree(communicator, [&] { setup.local = open_local_sources(sources, specs, setup.roles, communicator.rank()); });
  loop_recordings(setup.local, specs, sources, building, communicator);
  if (setup.live) setup.time_over = !wait_for_live(setup.local, sources, communicator, watch);
  Json mine = Json::array();
  agree(communicator, [&] { mine = describe_local(setup, specs, sources); });
  const auto described = all_gather_json(communicator, mine);
  agree(communicator, [&] {
    const auto sorted = take_info(setup, described);
    require_one_clock(setup.streams);
    require_same_words(setup.streams);
    take_time_origin(setup, sources.time_origin, communicator.rank() == 0);
    setup.with_payload = sources.had_payload && std::ranges::any_of(setup.streams, is_unheard);
    resolve_setup(setup, building, sorted);
  });
  auto needs = ring_needs(communicator, setup.roles);
  needs.message_bytes = message_bytes(setup.streams, setup.run.geometry);
  setup.ring = ring_size(needs, exchange.ring);
  setup.in_force = in_force(building, setup.run, setup.numbered) + ", rings of " + ring_text(setup.ring);
  if (communicator.rank() == 0) {
    report_sources_beyond(setup);
    report_far_clocks(setup.streams);
    report_unread(setup, described);
  }
  setup.first_slice = first_slice_of(setup);
  return setup;
}

}  // namespace eventloom
