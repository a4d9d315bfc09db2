#include <algorithm>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "fuzz_input.hpp"
#include "io/recorded/payload_columns.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/uri/source_uri.hpp"
#include "schedulers/table.hpp"

/// What users write. The first letter of the input says which parser gets the rest: u source URIs, d --define,
/// f --filter (one a line), n numbers and units, t schedule tables, c a table of hits behind a line of URI keys.

namespace {

using namespace eventloom;

constexpr std::uint64_t kTickPs = 1000;
constexpr std::uint64_t kOddTickPs = 7;

/// Refusing is what parsers may do, in these two ways.
template <class Parse>
void may_refuse(Parse parse) {
  try {
    parse();
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
  may_refuse([&] { uri.accept_only({"time", "channel"}); });
  may_refuse([&] { (void)uri.get_count("time", 1, 0, 1000); });
  may_refuse([&] { (void)uri.get_unit_ps("unit", kOddTickPs); });
  may_refuse([&] { (void)payload_columns(uri); });
  // Only this kind opens no file.
  if (uri.scheme() == "gen") (void)open_source({uri}, {1}, {});
}

void parse_definition(std::string_view text, std::uint64_t tick_ps) {
  SliceBuilderSettings settings;
  settings.definition = parse_event_definition(text, tick_ps);
  settings.payload.resize(1);
  SliceBuilder builder(settings);
  BuiltSlice built;
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
  EventFilter filter;
  for (std::string rest(text); !rest.empty();) {
    const auto [line, others] = split_line(rest);
    filter.add(line, kTickPs);
    rest = others;
  }
  auto slice = one_event();
  filter.select(slice);
  fuzz::require(slice.ledger.balances(), "every hit is accounted for after the filter");
}

void parse_numbers(std::string_view text) {
  (void)parse_decimal(text);
  may_refuse([&] { (void)parse_duration(text, kTickPs); });
  may_refuse([&] { (void)parse_duration(text, kOddTickPs); });
  may_refuse([&] { (void)parse_picoseconds(text); });
  may_refuse([&] { (void)parse_bytes(text); });
  const auto count = parse_count(text);
  constexpr std::uint64_t kMaxDigits = 9'999'999'999'999'999'999U;
  if (count <= kMaxDigits) fuzz::require(parse_count(std::to_string(count)) == count, "a count reads as it is written");
}

void parse_schedule(const std::string& text) {
  std::istringstream in(text);
  const auto table = read_schedule_table(in, "table");
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

void read_table_of_hits(std::string_view text) {
  const auto [keys, lines] = split_line(text);
  const fuzz::MemoryFile file(std::as_bytes(std::span(lines)));
  const auto source = open_source({parse_source_uri("csv:" + file.path() + "?" + keys)}, {0}, {});
  if (!source->first_epoch()) return;
  SliceData data;
  source->collect({0, ~Epoch{0}}, data);
  fuzz::require(!data.pieces.empty() && source->hits_read() != 0, "a source with an epoch has hits");
  source->release_before(~Epoch{0});
}

void parse(char kind, std::string_view text) {
  switch (kind) {
    case 'u': return parse_uri(std::string(text));
    case 'd': may_refuse([&] { parse_definition(text, kOddTickPs); }); return parse_definition(text, kTickPs);
    case 'f': return parse_filters(text);
    case 'n': return parse_numbers(text);
    case 't': return parse_schedule(std::string(text));
    case 'c': return read_table_of_hits(text);
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
  // A copy of just this size, without the zero behind a string's end: reading on shows.
  const std::vector<char> text(data + 1, data + size);
  may_refuse([&] { parse(static_cast<char>(data[0]), {text.data(), text.size()}); });
  return 0;
}
