#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_histograms.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector_map.hpp"
#include "core/detector/resolve_detector.hpp"
#include "core/runtime/text_error.hpp"
#include "formats/offset_span.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "fuzz_input.hpp"
#include "io/recorded/payload_columns.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/uri/source_uri.hpp"
#include "schedulers/table.hpp"

/// Text that users write. The first letter of the input selects the parser of the rest: u source URIs, d --define, f
/// --filter and h --hist (one per line), n numbers and units, t schedule tables, c a table of hits after a line of URI
/// keys, m detector maps, g --group.

namespace {

using namespace eventloom;

constexpr std::uint64_t kTickPs = 1000;
constexpr std::uint64_t kOddTickPs = 7;

/// Parsers may refuse input in these two ways.
template <class Parse>
void may_refuse(Parse parse) {
  try {
    parse();
  } catch (const TextError& error) {
    fuzz::require(std::ranges::count(error.excerpt(), '\n') == 1 && error.excerpt().ends_with('^'),
                  "a mistake is marked below its text");
    return;
  } catch (const UserError&) {
    return;
  } catch (const std::invalid_argument&) {
    return;
  }
}

/// The first line and the rest.
std::pair<std::string, std::string> split_line(std::string_view text) {
  const auto end = std::min(text.find('\n'), text.size());
  return {std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, text.size())))};
}

void parse_uri(const std::string& text) {
  const auto uri = parse_source_uri(text);
  fuzz::require(parse_source_uri(uri.text()).text() == uri.text(), "a URI reads as it is written");
  (void)uri.with("group", "/a").with_path("x");
  may_refuse([&] { uri.accept_only(std::to_array<std::string_view>({"time", "channel"})); });
  may_refuse([&] { (void)uri.get_count("time", 1, 0, 1000); });
  may_refuse([&] { (void)uri.get_unit("unit", kOddTickPs); });
  may_refuse([&] { (void)payload_columns(uri); });
  // Only this scheme opens no file.
  if (uri.scheme() == "gen") (void)open_source({uri}, {1}, {});
}

/// One source, whose channel 5 belongs to group A.
DetectorPtr detector() {
  auto detector = std::make_shared<Detector>(1);
  detector->add_group("A");
  detector->change({0, 5, 5}, [](ChannelInfo& info) {
    info.groups = 1;
    info.position.emplace();
  });
  return detector;
}

void parse_definition(std::string_view text, std::uint64_t tick_ps) {
  SliceBuilderSettings settings;
  const auto definition = parse_event_definition(text, tick_ps, detector());
  const auto again = parse_event_definition(definition->text(), tick_ps, detector());
  fuzz::require(again->text() == definition->text(), "a definition reads as it is written");
  settings.events = {{definition, settings.geometry.overlap}};
  settings.payload.resize(1);
  SliceBuilder builder(settings);
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  builder.build({1}, std::vector<SourceSlice>(1), built, problems);
}

BuiltSlice one_event() {
  BuiltSlice slice;
  slice.ledger.hits_in = slice.ledger.hits_in_events = 2;
  slice.events = {{1000}, {30}, {2}, {0}, {0}, {2}, {1}};
  slice.hits = {{1000, 1030}, {5, 7U << 22}, {0, 0}, {}, {}};
  return slice;
}

void parse_filters(std::string_view text) {
  EventFilter filter(detector());
  for (std::string rest(text); !rest.empty();) {
    const auto [line, others] = split_line(rest);
    filter.add(line, kTickPs);
    rest = others;
  }
  auto slice = one_event();
  filter.select(slice);
  fuzz::require(slice.ledger.balances(), "every hit is accounted for after the filter");
}

/// Each histogram of an event of two hits has at most one entry per pair of them.
void parse_histograms(std::string_view text) {
  constexpr std::size_t kMostCells = std::size_t{1} << 16;  // larger ones take the time of many small ones
  auto set = std::make_shared<HistogramSet>(detector());
  for (std::string rest(text); !rest.empty();) {
    const auto [line, others] = split_line(rest);
    set->add(line, kTickPs);
    rest = others;
  }
  if (set->cells() > kMostCells) return;
  std::vector<std::uint64_t> cells(set->cells());
  EventHistograms(set).add(one_event(), cells);
  for (std::size_t i = 0; i < set->specs().size(); ++i) {
    std::uint64_t entries = 0;
    for (const auto n : set->cells_of(i, cells)) entries += n;
    fuzz::require(entries <= 2, "an event of two hits has two ordered pairs");
  }
}

void parse_numbers(std::string_view text) {
  (void)parse_decimal(text);
  may_refuse([&] { (void)parse_duration(text, kTickPs); });
  may_refuse([&] { (void)parse_duration(text, kOddTickPs); });
  may_refuse([&] { (void)parse_offset(text, kOddTickPs); });
  (void)parse_utc(text);
  may_refuse([&] { (void)parse_picoseconds(text); });
  may_refuse([&] { (void)parse_bytes(text); });
  const auto count = parse_count(text);
  constexpr std::uint64_t kMaxDigits = 9'999'999'999'999'999'999U;
  if (count <= kMaxDigits) fuzz::require(parse_count(std::to_string(count)) == count, "a count reads as it is written");
}

void parse_schedule(const std::string& text) {
  const auto table = parse_schedule_table(text, "table");
  ScheduleSettings settings;
  settings.n_sources = 2;
  settings.n_builders = 2;
  const Table schedule(settings, table, "table");
  (void)schedule.slot_ns();
  for (std::uint64_t slice = 0; slice < 5; ++slice) {
    fuzz::require(schedule.next_slice({1}, {slice}).has_value(), "each builder gets slices");
    (void)schedule.slot_of({1}, {slice});
    (void)schedule.start_ns({1}, {slice});
  }
}

DetectorSources two_sources() { return {{"run/a.epochs", "run/b.epochs"}, kTickPs, false}; }

/// A map's values of a channel equal those of its table, and windows of slices hold the hits that it moves.
void apply_map(const std::string& text) {
  const auto map = parse_detector_map(text, "map.csv");
  const auto detector = resolve_detector(map, {}, two_sources());
  const ChannelTable<std::int64_t> offsets(detector, [](const ChannelInfo& info) { return info.offset; });
  for (std::uint16_t source = 0; source < 2; ++source) {
    detector.visit(source, [&](std::uint32_t low, const ChannelInfo& info) {
      fuzz::require(detector.at(source, low) == info, "a piece holds all values of its channels");
      fuzz::require(offsets.of(source)[low] == info.offset, "a table has the values of the pieces");
      fuzz::require(low == 0 || offsets.of(source)[low - 1] == detector.at(source, low - 1).offset,
                    "up to their borders");
    });
  }
  for (const auto span : stream_offsets(detector, false, 2)) {
    const SliceGeometry geometry;
    const auto epochs = sent_epochs(geometry, {5}, span);
    fuzz::require(epochs.begin < epochs.end, "something is sent for each slice");
  }
}

void name_group(const std::string& text) {
  const std::vector<GroupOption> groups{parse_group_option(text)};
  const auto detector = resolve_detector({}, groups, two_sources());
  fuzz::require(detector.group(groups.front().name) == 0, "a group is known by its name");
}

void read_table_of_hits(std::string_view text) {
  const auto [keys, lines] = split_line(text);
  const fuzz::MemoryFile file(std::as_bytes(std::span(lines)));
  const auto source = open_source({parse_source_uri("csv:" + file.path() + "?" + keys)}, {0}, {});
  if (!source->first_epoch()) return;
  SliceData data;
  constexpr Epoch kEnd = std::numeric_limits<Epoch>::max();
  source->collect({0, kEnd}, data);
  const bool any = !data.pieces.empty() || !data.damage.empty();
  fuzz::require(any && source->hits_read() != 0, "a source with an epoch has hits, or has lost some");
  source->release_before(kEnd);
}

void parse(char kind, std::string_view text) {
  switch (kind) {
    case 'u': return parse_uri(std::string(text));
    case 'd': may_refuse([&] { parse_definition(text, kOddTickPs); }); return parse_definition(text, kTickPs);
    case 'f': return parse_filters(text);
    case 'h': return parse_histograms(text);
    case 'n': return parse_numbers(text);
    case 't': return parse_schedule(std::string(text));
    case 'c': return read_table_of_hits(text);
    case 'm': return apply_map(std::string(text));
    case 'g': return name_group(std::string(text));
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy of exactly this size, without a string's terminating zero: reads beyond it are detected.
  const std::vector<char> text(data + 1, data + size);
  may_refuse([&] { parse(static_cast<char>(data[0]), {text.data(), text.size()}); });
  return 0;
}
