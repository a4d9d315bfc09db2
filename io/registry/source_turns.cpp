#include "io/registry/source_turns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/quiet_log.hpp"
#include "formats/units.hpp"
#include "io/recorded/clock_beginnings.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/number_word.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {

namespace {

/// A source whose counter turns, and how it begins.
struct BegunSource {
  SourceSpec* spec = nullptr;
  std::uint64_t period = 0;
  double unit = 0;  ///< length of its numbers, in ticks
  ClockBeginning beginning;
  bool numbered = false;  ///< times are event numbers
};

/// The key that says in which turn a source begins.
const char* key_of(const SourceUri& uri) { return numbers_events(uri) ? "offset" : "turns"; }

/// Whether the user or the data state where the counter of a source begins.
bool is_placed(const SourceUri& uri) { return uri.has(key_of(uri)) || uri.has("overflow"); }

bool is_to_be_placed(const SourceSpec& spec) {
  const auto& scheme = scheme_of(spec.uri);
  return scheme.turns != nullptr && scheme.turns(spec.uri) && spec.defect.empty() && !is_placed(spec.uri);
}

/// Reads the first hits in a file. Their numbers begin in turn 1, so that some may lie before the first one, and their
/// times are rounded, as the tick of the run is not known. std::nullopt if there are none.
std::optional<BegunSource> begun(SourceSpec& spec, const std::string& file) {
  if (const auto& scheme = scheme_of(spec.uri); scheme.begins != nullptr) {
    const auto beginning = scheme.begins(file);
    if (!beginning) return std::nullopt;
    return BegunSource{&spec, scheme.begins_below, 0, *beginning};
  }
  const bool numbered = holds_event_numbers(spec.uri);
  auto uri = spec.uri.with_path(file);
  if (!numbers_events(uri)) uri = uri.with("turns", "1");
  if (!numbered) uri = uri.with("round", "nearest");
  const auto reader = scheme_of(uri).read(uri, {0}, TimeBase{});
  HitBlock block;
  while (reader->read(block) && block.size() == 0) {
  }
  if (const auto* const counter = reader->counter()) {
    const auto extent = counter->extent();
    if (!extent) return std::nullopt;
    const ClockBeginning beginning{extent->first % extent->period, extent->first - extent->lowest};
    const auto clock = reader->raw_clock();
    return BegunSource{&spec, extent->period, clock ? clock->ticks : 0, beginning, numbered};
  }
  if (!numbered || block.size() == 0) return std::nullopt;
  const auto period = std::uint64_t{1} << read_number_place(uri, numbered).bits;
  return BegunSource{&spec, period, 0, {block.time.front().value % period, 0}, numbered};
}

/// Likewise in the files of a source. Also std::nullopt if its counter does not turn, the user or the data state where
/// it begins, or it cannot be read, which its reader will report.
std::optional<BegunSource> begun(SourceSpec& spec) {
  const auto& uri = spec.uri;
  const auto& scheme = scheme_of(uri);
  // Feeds place event numbers themselves.
  if (!is_to_be_placed(spec) || (uri.has("follow") && numbers_events(uri))) return std::nullopt;
  const QuietLog quiet;
  try {
    for (const auto& file : scheme.files(uri)) {
      if (auto found = begun(spec, file)) return found;
    }
  } catch (const UserError&) {  // its reader will report that
  }
  return std::nullopt;
}

/// The beginnings of "a, b and 3 more".
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) list += (i == 0 ? "" : ", ") + names[i];
  return names.size() <= kShown ? list : fmt::format("{} and {} more", list, names.size() - kShown);
}

void report_turns(const std::vector<BegunSource>& sources) {
  std::map<std::uint64_t, std::vector<std::string>> of_turn;
  for (const auto& source : sources) of_turn[source.spec->turns].push_back(source.spec->uri.place());
  if (of_turn.size() == 1) return;
  std::string text;
  for (const auto& [turn, names] : of_turn) {
    text += fmt::format("{}turn {}: {}", text.empty() ? "" : "; ", turn, list_of(names));
  }
  log::warn(
      "sources of one clock, whose counters start again at {}, begin on both sides of a turn ({}): their first times "
      "are taken to lie within half a turn; {}=N says otherwise",
      sources.front().period, text, key_of(sources.front().spec->uri));
}

[[noreturn]] void refuse_spread(const std::vector<BegunSource>& sources) {
  throw UserError(fmt::format(
      "'{}', '{}' and others begin all over a turn of their counters, which start again at {}: in which turn each "
      "begins is ambiguous. If they are files of one recording, join them with concat; otherwise say in which turn "
      "each begins: {}=0",
      sources[0].spec->uri.place(), sources[1].spec->uri.place(), sources.front().period,
      key_of(sources.front().spec->uri)));
}

/// Whether two units are the same, though written differently: 10ns, 0.01us.
bool are_one_unit(const std::string& a, const std::string& b) {
  constexpr double kRounded = 1e-12;
  const auto unit_a = parse_unit(a);
  const auto unit_b = parse_unit(b);
  if (!unit_a || !unit_b) return a == b;
  const double ps_a = to_double(unit_a->ps) / static_cast<double>(unit_a->divisor);
  const double ps_b = to_double(unit_b->ps) / static_cast<double>(unit_b->divisor);
  return std::abs(ps_a - ps_b) <= kRounded * ps_a;
}

/// Whether two counters start again at one number and count one unit, apart from the drift of each. Event numbers have
/// no unit.
bool are_equal(const BegunSource& a, const BegunSource& b) {
  constexpr double kMostDrift = 0.02;
  if (a.period != b.period || a.numbered) return a.period == b.period;
  const auto stated = [](const BegunSource& source) { return source.spec->uri.get("unit", ""); };
  const bool keys_agree = stated(a).empty() || stated(b).empty() || are_one_unit(stated(a), stated(b));
  return keys_agree && std::abs(a.unit - b.unit) <= kMostDrift * std::max(a.unit, b.unit);
}

/// Throws UserError if the counters of one clock differ.
void require_equal_counters(const std::vector<BegunSource>& sources) {
  const auto& first = sources.front();
  for (const auto& source : sources) {
    if (are_equal(first, source)) continue;
    throw UserError(
        fmt::format("'{}' and '{}' are said to be of one clock, but their counters differ in bits=, modulus= or the "
                    "unit that unit= or the file states: say in which turn each begins: turns=0",
                    first.spec->uri.text(), source.spec->uri.text()));
  }
}

void place_clock(const std::vector<BegunSource>& sources) {
  require_equal_counters(sources);
  std::vector<ClockBeginning> beginnings;
  for (const auto& source : sources) beginnings.push_back(source.beginning);
  const auto turns = first_turns(beginnings, sources.front().period);
  if (!turns) refuse_spread(sources);
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i].spec->turns = (*turns)[i];
  report_turns(sources);
}

/// Warns if sources that are not known to be of one clock would be placed otherwise if they were.
void report_other_clocks(const std::map<std::string, std::vector<BegunSource>>& clocks) {
  const BegunSource* first = nullptr;
  for (const auto& [name, sources] : clocks) {
    const auto& other = sources.front();
    if (first == nullptr) first = &other;
    const auto a = first->beginning.first;
    const auto b = other.beginning.first;
    if (first->period != other.period || (a > b ? a - b : b - a) <= other.period / 2) continue;
    log::warn(
        "'{}' begins with {} and '{}' with {} of counters that start again at {}: if they count one clock, of which "
        "one has turned before, add clock=NAME to both, the same name",
        first->spec->uri.place(), a, other.spec->uri.place(), b, other.period);
    return;
  }
}

/// Warns of a followed source whose beginning is not there yet.
void report_followed(std::span<const SourceSpec> specs, const SourceUri& followed) {
  if (std::ranges::count_if(specs, is_to_be_placed) < 2) return;
  log::warn(
      "'{}' is followed, and its beginning is not known: it is taken to begin in turn 0 of its counter, wherever "
      "other sources begin; {}=N says otherwise, {}=0 that this is right",
      followed.path(), key_of(followed), key_of(followed));
}

/// Remembers with which number the next source of the same kind begins, as it may be the next part of a recording.
void note_next(const std::vector<BegunSource>& sources) {
  std::map<std::string, const BegunSource*> last;
  for (const auto& source : sources) {
    const auto& uri = source.spec->uri;
    if (numbers_events(uri)) continue;
    auto& before = last[fmt::format("{} {} {}", uri.scheme(), uri.get("group", ""), source.period)];
    if (before != nullptr) before->spec->next_first = source.beginning.first;
    before = &source;
  }
}

}  // namespace

std::string clock_of(const SourceSpec& spec) {
  const auto name = spec.uri.get("clock", "");
  if (spec.uri.has("clock") && name.empty()) spec.uri.refuse("clock= needs a name, the same for sources of one clock");
  if (!name.empty()) return "clock " + name;
  const auto& scheme = scheme_of(spec.uri);
  return scheme.one_clock ? std::string(scheme.name) : fmt::format("source {}", spec.given);
}

SourceUri placed_uri(const SourceSpec& spec) {
  if (spec.turns == 0 || numbers_events(spec.uri)) return spec.uri;
  return spec.uri.with("turns", std::to_string(spec.turns));
}

void place_turns(std::span<SourceSpec> specs, std::span<const std::string> before) {
  std::vector<BegunSource> sources;
  std::map<std::string, std::vector<BegunSource>> clocks;
  const SourceUri* followed = nullptr;
  for (std::size_t s = 0; s < specs.size(); ++s) {
    auto& spec = specs[s];
    const auto clock = clock_of(spec);
    if (s < before.size() && spec.uri.has("follow") && is_to_be_placed(spec)) {
      spec.turns = ClockTurns::first_turn_of(parse_source_uri(before[s]));
    } else if (const auto source = begun(spec)) {
      sources.push_back(*source);
      // Sources of event numbers are matched by them.
      clocks[source->numbered ? fmt::format("numbers below {}", source->period) : clock].push_back(*source);
    } else if (spec.uri.has("follow") && is_to_be_placed(spec)) {
      followed = &spec.uri;
    }
  }
  for (const auto& [name, of_clock] : clocks) place_clock(of_clock);
  report_other_clocks(clocks);
  if (followed != nullptr) report_followed(specs, *followed);
  note_next(sources);
}

}  // namespace eventloom
