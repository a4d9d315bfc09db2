#include "io/registry/source_turns.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/quiet_log.hpp"
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
  ClockBeginning beginning;
  bool numbered = false;  ///< times are event numbers
};

std::string name_in_messages(const BegunSource& source) {
  const auto& uri = source.spec->uri;
  return uri.path() + (uri.has("group") ? ":" + uri.get("group", "") : "");
}

/// The key that says in which turn a source begins.
const char* key_of(const SourceUri& uri) { return numbers_events(uri) ? "offset" : "turns"; }

/// Whether the user or the data state where the counter of a source begins.
bool is_placed(const SourceUri& uri) { return uri.has(key_of(uri)) || uri.has("overflow"); }

/// Reads the first hits in a file. Their numbers begin in turn 1, so that some may lie before the first one, and their
/// times are rounded, as the tick of the run is not known. std::nullopt if there are none.
std::optional<BegunSource> begun(SourceSpec& spec, const std::string& file) {
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
    return BegunSource{&spec, extent->period, beginning, numbered};
  }
  if (!numbered || block.size() == 0) return std::nullopt;
  const auto period = std::uint64_t{1} << read_number_place(uri, numbered).bits;
  return BegunSource{&spec, period, {block.time.front().value % period, 0}, numbered};
}

/// Likewise in the files of a source. Also std::nullopt if its counter does not turn, the user or the data state where
/// it begins, or it cannot be read, which its reader will report.
std::optional<BegunSource> begun(SourceSpec& spec) {
  const auto& uri = spec.uri;
  const auto& scheme = scheme_of(uri);
  const bool turns = scheme.turns != nullptr && scheme.turns(uri) && spec.defect.empty();
  if (!turns || is_placed(uri) || uri.has("follow")) return std::nullopt;
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
  for (const auto& source : sources) of_turn[source.spec->turns].push_back(name_in_messages(source));
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
      name_in_messages(sources[0]), name_in_messages(sources[1]), sources.front().period,
      key_of(sources.front().spec->uri)));
}

/// Throws UserError if the counters of one clock differ.
void require_equal_counters(const std::vector<BegunSource>& sources) {
  const auto& first = sources.front();
  const auto unit = first.spec->uri.get("unit", "");
  for (const auto& source : sources) {
    if (source.period == first.period && source.spec->uri.get("unit", "") == unit) continue;
    throw UserError(
        fmt::format("'{}' and '{}' are said to be of one clock, but their counters differ in bits=, "
                    "modulus= or unit=: say in which turn each begins: turns=0",
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
        name_in_messages(*first), a, name_in_messages(other), b, other.period);
    return;
  }
}

/// Warns of followed sources, whose beginnings may not be there yet.
void report_followed(std::span<const SourceSpec> specs) {
  const auto turns = [](const SourceSpec& spec) {
    const auto& scheme = scheme_of(spec.uri);
    return scheme.turns != nullptr && scheme.turns(spec.uri) && !is_placed(spec.uri);
  };
  const auto followed =
      std::ranges::find_if(specs, [&](const auto& spec) { return spec.uri.has("follow") && turns(spec); });
  if (followed == specs.end() || std::ranges::count_if(specs, turns) < 2) return;
  log::warn(
      "'{}' is followed: it is taken to begin in turn 0 of its counter, wherever other sources begin; {}=N says "
      "otherwise, {}=0 that this is right",
      followed->uri.path(), key_of(followed->uri), key_of(followed->uri));
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

void place_turns(std::span<SourceSpec> specs) {
  std::vector<BegunSource> sources;
  std::map<std::string, std::vector<BegunSource>> clocks;
  for (auto& spec : specs) {
    const auto clock = clock_of(spec);
    if (const auto source = begun(spec)) {
      sources.push_back(*source);
      // Sources of event numbers are matched by them.
      clocks[source->numbered ? fmt::format("numbers below {}", source->period) : clock].push_back(*source);
    }
  }
  for (const auto& [name, of_clock] : clocks) place_clock(of_clock);
  report_other_clocks(clocks);
  report_followed(specs);
  note_next(sources);
}

}  // namespace eventloom
