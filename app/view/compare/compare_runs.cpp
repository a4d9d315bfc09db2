#include "app/view/compare/compare_runs.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <set>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/run_input/event_stream.hpp"

namespace eventloom {

namespace {

/// Bytes per run, for all of its columns.
constexpr std::size_t kReadAhead = std::size_t{32} << 20;

constexpr std::size_t index_of(Aspect aspect) { return static_cast<std::size_t>(aspect); }

bool same_hits(const HitPiece& a, const HitPiece& b) {
  return a.time == b.time && a.channel == b.channel && a.source == b.source;
}

/// Equal numbers, or none in both; true unless both runs have values.
bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return true;
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// The identity of an event: the time of its first hit and, where events may begin together, the source of that hit.
struct Identity {
  Tick time = 0;
  std::uint16_t source = 0;

  auto operator<=>(const Identity&) const = default;
};

/// Reads one run; holds its current event unless at the end.
class Reader {
 public:
  /// `share_times`: whether events of the run may begin at the same tick.
  Reader(const RunTables& run, bool share_times) : run_(&run), share_times_(share_times), stream_(run, kReadAhead) {
    next();
  }

  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] Identity identity() const { return {event().time, first_source_}; }
  [[nodiscard]] const OutputEvent& event() const { return stream_.event(); }
  [[nodiscard]] EventAt at() const { return {stream_.place(), stream_.number()}; }
  [[nodiscard]] const HitPiece& hits() const { return hits_; }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

  void next() {
    at_end_ = !stream_.next();
    if (!at_end_) {
      ++counted_.events;
      counted_.hits += event().n_hits;
      if (share_times_) read_first_hits();
    } else if (counted_.events != run_->events()) {
      throw UserError(fmt::format("the run in '{}' has {} events, of which the ledger's slices hold {}: it is damaged",
                                  run_->folder.string(), run_->events(), counted_.events));
    }
  }
  void read_hits() {
    if (!std::exchange(read_ahead_, false)) stream_.read_hits(hits_);
  }
  void read_words() { stream_.read_words(words_); }

  ComparedRun counted() {
    scan_ledger(*run_, [&](const LedgerEntry& entry) { counted_.ledger.add(entry.row, entry.missing_mask != 0); });
    return std::move(counted_);
  }

 private:
  void read_first_hits() {
    stream_.read_hits(hits_);
    read_ahead_ = true;
    first_source_ = hits_.source.empty() ? std::uint16_t{0} : hits_.source.front();
  }

  const RunTables* run_;
  bool share_times_;
  bool read_ahead_ = false;         ///< hits() are the first of the event
  std::uint16_t first_source_ = 0;  ///< source of the first hit, if events share times
  EventStream stream_;
  HitPiece hits_;
  std::vector<std::uint32_t> words_;
  ComparedRun counted_;
  bool at_end_ = false;
};

bool same_words(Reader& a, Reader& b) {
  do {
    a.read_words();
    b.read_words();
    if (a.words() != b.words()) return false;
  } while (!a.words().empty());
  return true;
}

/// Stops at the first difference between the hits.
void compare_hits(Reader& a, Reader& b, Aspects& aspects) {
  bool hits = a.event().n_hits != b.event().n_hits;
  bool payload = false;
  bool value = false;
  while (!hits) {
    a.read_hits();
    b.read_hits();
    if (a.hits().time.empty()) break;
    hits = !same_hits(a.hits(), b.hits());
    value = value || !same_values(a.hits().value, b.hits().value);
    if (!payload) payload = a.hits().words != b.hits().words || !same_words(a, b);
  }
  aspects[index_of(Aspect::hits)] = hits;
  aspects[index_of(Aspect::payload)] = payload && !hits;
  aspects[index_of(Aspect::value)] = value && !hits;
}

/// Compares two events of the same identity.
Aspects different_aspects(Reader& a, Reader& b) {
  Aspects aspects{};
  aspects[index_of(Aspect::duration)] = a.event().duration != b.event().duration;
  aspects[index_of(Aspect::flags)] = a.event().flags != b.event().flags;
  aspects[index_of(Aspect::sources_missing)] = a.event().sources_missing != b.event().sources_missing;
  compare_hits(a, b, aspects);
  return aspects;
}

class Comparer {
 public:
  Comparer(const RunTables& a, const RunTables& b, std::size_t most)
      : share_times_(events_share_times(a.record) || events_share_times(b.record)),
        a_(a, share_times_),
        b_(b, share_times_),
        most_(most) {}

  Comparison compare() {
    while (!a_.at_end() || !b_.at_end()) {
      const bool a_first = b_.at_end() || (!a_.at_end() && a_.identity() < b_.identity());
      const bool b_first = a_.at_end() || (!b_.at_end() && b_.identity() < a_.identity());
      if (a_first) {
        take_single(Found::only_in_a, result_.only_in_a, a_);
      } else if (b_first) {
        take_single(Found::only_in_b, result_.only_in_b, b_);
      } else {
        take_pair();
      }
    }
    result_.a = a_.counted();
    result_.b = b_.counted();
    return std::move(result_);
  }

 private:
  void keep(Found found, const Aspects& aspects) {
    if (result_.first.size() < most_) result_.first.push_back({found, aspects, a_.at(), b_.at()});
  }

  void take_single(Found found, std::uint64_t& count, Reader& of) {
    ++count;
    keep(found, {});
    of.next();
  }

  void take_pair() {
    const auto aspects = different_aspects(a_, b_);
    for (std::size_t i = 0; i < kAspects; ++i) result_.by_aspect[i] += aspects[i] ? 1 : 0;
    if (std::ranges::find(aspects, true) == aspects.end()) {
      ++result_.same;
    } else {
      ++result_.different;
      keep(Found::in_both, aspects);
    }
    a_.next();
    b_.next();
  }

  bool share_times_;
  Reader a_;
  Reader b_;
  std::size_t most_;
  Comparison result_;
};

void expect_comparable(const RunRecord& a, const RunRecord& b) {
  if (a.numbered != b.numbered) {
    const auto* times = "event numbers";
    const auto* ticks = "ticks";
    throw UserError(fmt::format("the times of A are {}, those of B {}: they cannot be compared",
                                a.numbered ? times : ticks, b.numbered ? times : ticks));
  }
  if (a.numbered || a.base.tick_ps == b.base.tick_ps) return;
  throw UserError(
      fmt::format("A has ticks of {} ps, B of {} ps: their times cannot be compared", a.base.tick_ps, b.base.tick_ps));
}

void note_ends(const RunRecord& record, const char* which, std::vector<std::string>& notes) {
  if (!record.missing.empty()) {
    notes.push_back(fmt::format("{}: {}", which, record.missing));
  } else if (!record.closed) {
    notes.push_back(fmt::format("{} has not ended: only what it has finished so far is compared", which));
  }
}

/// Hits are compared by source number, so differing sources are noted.
void note_sources(const RunRecord& a, const RunRecord& b, std::vector<std::string>& notes) {
  if (a.sources.size() != b.sources.size()) {
    notes.push_back(fmt::format("A has {} sources, B has {}", a.sources.size(), b.sources.size()));
  }
  for (std::size_t i = 0; i < std::min(a.sources.size(), b.sources.size()); ++i) {
    if (a.sources[i].name == b.sources[i].name) continue;
    notes.push_back(fmt::format("sources have other names: source {} is '{}' in A, '{}' in B", i, a.sources[i].name,
                                b.sources[i].name));
    return;
  }
}

void note_setups(const RunRecord& a, const RunRecord& b, std::vector<std::string>& notes) {
  const auto note = [&](const char* what, const std::string& of_a, const std::string& of_b) {
    if (of_a == of_b) return;
    const auto shown = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
    notes.push_back(fmt::format("{}: {} in A, {} in B", what, shown(of_a), shown(of_b)));
  };
  const auto values = [](const RunRecord& run) {
    return run.hits.with_values ? "in " + (run.hits.value_unit.empty() ? "no unit" : run.hits.value_unit) : "";
  };
  note("values of hits", values(a), values(b));
  note("definition", a.definition, b.definition);
  note("filters", joined(a.filters, " and "), joined(b.filters, " and "));
  note("time of tick 0", a.time_of_tick_0, b.time_of_tick_0);
}

/// Verifies the parts that contain the events to be shown, before any is shown.
void verify_shown(const RunTables& a, const RunTables& b, const std::vector<Difference>& shown) {
  std::set<std::size_t> of_a;
  std::set<std::size_t> of_b;
  for (const auto& difference : shown) {
    if (difference.found != Found::only_in_b) of_a.insert(difference.a.place.part);
    if (difference.found != Found::only_in_a) of_b.insert(difference.b.place.part);
  }
  verify_parts(a, of_a);
  verify_parts(b, of_b);
}

}  // namespace

std::vector<const MetricInfo*> compared_counters() {
  std::vector<const MetricInfo*> counters = {&info(Metric::hits_in), &info(Metric::hits_in_events),
                                             &info(Metric::hits_outside), &info(Metric::hits_rejected)};
  for (const auto& metric : metrics_of(Account::dropped)) counters.push_back(&metric);
  return counters;
}

Comparison compare_runs(const RunTables& a, const RunTables& b, std::size_t most) {
  expect_comparable(a.record, b.record);
  auto result = Comparer(a, b, most).compare();
  verify_shown(a, b, result.first);
  note_ends(a.record, "A", result.notes);
  note_ends(b.record, "B", result.notes);
  note_setups(a.record, b.record, result.notes);
  note_sources(a.record, b.record, result.notes);
  return result;
}

}  // namespace eventloom
