#include "expected.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "expression_reference.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom::test {

namespace {

using Drop = std::function<void(const RefHit&, DropCause)>;

/// The hits as they are read from a file: in order of time, and without copies if they are unwanted.
std::vector<RefHit> as_read(const RunCase& of, std::vector<RefHit> hits, const Drop& drop) {
  if (!of.as_files) return hits;
  std::ranges::stable_sort(hits, {}, &RefHit::time);
  std::set<std::tuple<Tick, std::uint32_t, std::vector<std::uint32_t>>> seen;
  std::vector<RefHit> kept;
  for (const auto& hit : hits) {
    if (seen.emplace(hit.time, hit.channel, hit.payload).second || !of.unique) {
      kept.push_back(hit);
    } else {
      drop(hit, DropCause::copy);
    }
  }
  return kept;
}

bool is_cut(const ChannelInfo& channel, const RefHit& hit) {
  if (!channel.cut) return false;
  return hit.payload.empty() || hit.payload[0] < channel.min_payload || hit.payload[0] > channel.max_payload;
}

/// The hits with corrected times, without those that the detector drops.
std::vector<RefHit> corrected(const RunCase& of, const std::vector<RefHit>& hits, const Drop& drop) {
  std::vector<RefHit> kept;
  for (auto hit : hits) {
    const auto& channel = of.detector->at(hit.source, hit.channel);
    const auto time = static_cast<std::int64_t>(hit.time) + channel.offset;
    hit.time = time < 0 ? 0 : static_cast<Tick>(time);
    if (channel.masked) {
      drop(hit, DropCause::masked);
    } else if (is_cut(channel, hit)) {
      drop(hit, DropCause::cut);
    } else if (time < 0) {
      drop(hit, DropCause::untimed);
    } else {
      kept.push_back(hit);
    }
  }
  return kept;
}

/// Without the hits outside the stretch, and those within the dead time of their channel that the last hit before them
/// began which counted.
std::vector<RefHit> thinned(const RunCase& of, std::vector<RefHit> hits, const Drop& drop) {
  std::ranges::stable_sort(hits, {}, &RefHit::time);
  std::map<std::uint32_t, Tick> ready;
  std::vector<RefHit> kept;
  for (const auto& hit : hits) {
    if (hit.time < of.stretch.begin || hit.time >= of.stretch.end) {
      drop(hit, DropCause::outside_stretch);
    } else if (hit.time < ready[hit.channel]) {
      drop(hit, DropCause::dead_time);
    } else {
      ready[hit.channel] = hit.time + of.detector->at(hit.source, hit.channel).dead_time;
      kept.push_back(hit);
    }
  }
  return kept;
}

/// Adds an event and its hits to the columns of a slice.
void add_event(BuiltSlice& slice, const RefEvent& event, bool with_payload) {
  slice.events.time.push_back(event.first());
  slice.events.duration.push_back(event.last() - event.first());
  slice.events.n_hits.push_back(static_cast<std::uint32_t>(event.hits.size()));
  slice.events.flags.push_back(event.truncated ? std::uint32_t{kTruncated} : 0);
  for (const auto& hit : event.hits) {
    slice.hits.time.push_back(hit.time);
    slice.hits.channel.push_back(hit.channel);
    slice.hits.source.push_back(hit.source);
    if (!with_payload) continue;
    slice.hits.payload_words.push_back(static_cast<std::uint32_t>(hit.payload.size()));
    std::ranges::copy(hit.payload, std::back_inserter(slice.hits.payload));
  }
}

/// Counts the event in the account of a slice; returns whether all of `filters` hold.
bool judge(const std::vector<RefExpression>& filters, const RefEvent& event, BuiltSlice& slice) {
  slice.rejected_by.resize(filters.size());
  bool accepted = true;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (filters[i].holds(event.hits)) continue;
    ++slice.rejected_by[i];
    accepted = false;
  }
  if (!accepted) ++slice.events_rejected;
  return accepted;
}

std::string difference(const HitColumns& found, const HitColumns& wanted) {
  if (found.time != wanted.time || found.channel != wanted.channel) return "hits";
  if (found.source != wanted.source) return "the sources of hits";
  return found.payload_words != wanted.payload_words || found.payload != wanted.payload ? "payload" : "";
}

/// Of a slice without damage.
std::string difference(const BuiltSlice& found, const BuiltSlice& wanted) {
  if (auto wrong = difference_of_contents(found, wanted); !wrong.empty()) return wrong;
  const auto& row = wanted.ledger;
  std::uint64_t lost = row.hits_dropped[static_cast<std::size_t>(DropCause::copy)];  // which sources count themselves
  for (const auto& loss : found.losses) lost += loss.n_hits;
  return found.sources_missing.empty() && lost == row.dropped() ? "" : "losses";
}

/// Checks against the schedule which builder has built and which writer has written a slice.
std::string wrong_place(const RunCase& of, const Roles& roles, Scheduler& schedule, const Outcome& outcome,
                        const WrittenSlice& written) {
  const auto slice = written.slice.slice();
  const BuilderId builder{written.slice.ledger.builder};
  const auto writer = roles.filters == 0 ? builder.value : slice.value % roles.filters;
  if (written.writer != writer) return "the writer";
  if (outcome.built_on.at(slice.value) != roles.rank_of(builder)) return "the builder's rank";
  if (of.keep_sorted && outcome.sorted_by.at(slice.value) != builder.value) return "the builder";
  const bool given = schedule.claims() != nullptr || schedule.next_slice(builder, slice) == slice;
  return given ? "" : "the builder";
}

/// The first difference in the further events of the slices that were written.
std::string difference_of_further(const RunCase& of, const Outcome& outcome) {
  for (std::size_t i = 0; i < of.further.size(); ++i) {
    RunCase alone = of;
    alone.definition = of.further[i].definition;
    alone.overlap = of.further[i].overlap;
    const auto wanted = expected_slices(alone);
    for (const auto& [number, written] : outcome.slices) {
      const auto found = outcome.further[i].find(number);
      const auto at = "slice " + std::to_string(number) + " of " + alone.definition + ": ";
      if (found == outcome.further[i].end()) return at + "is not there";
      const auto wrong = difference(found->second, wanted.at(number));
      if (!wrong.empty()) return at + wrong;
    }
    if (outcome.further[i].size() > outcome.slices.size()) return "there are unexpected slices of " + alone.definition;
  }
  return "";
}

}  // namespace

std::string difference_of_contents(const BuiltSlice& found, const BuiltSlice& wanted) {
  const auto& a = found.ledger;
  const auto& b = wanted.ledger;
  if (a.hits_in != b.hits_in) return "hits_in";
  if (a.hits_in_events != b.hits_in_events) return "hits_in_events";
  if (a.hits_outside != b.hits_outside) return "hits_outside";
  if (a.hits_rejected != b.hits_rejected) return "hits_rejected";
  if (found.events_rejected != wanted.events_rejected) return "events_rejected";
  auto rejected_by = wanted.rejected_by;  // empty where there are no events
  rejected_by.resize(found.rejected_by.size());
  if (found.rejected_by != rejected_by) return "rejected_by";
  if (a.hits_dropped != b.hits_dropped) return "hits_dropped";
  if (found.events.time != wanted.events.time) return "the times of events";
  if (found.events.duration != wanted.events.duration) return "durations";
  if (found.events.n_hits != wanted.events.n_hits) return "n_hits";
  if (found.events.flags != wanted.events.flags) return "flags";
  return difference(found.hits, wanted.hits);
}

RemainingHits remaining_hits(const RunCase& of) {
  RemainingHits all;
  const auto slice_ticks = of.geometry().slice_ticks();
  const Drop drop = [&](const RefHit& hit, DropCause cause) {
    auto& row = all.dropped[hit.time / slice_ticks];
    ++row.hits_in;
    ++row.hits_dropped[static_cast<std::size_t>(cause)];
  };
  for (const auto& stream : of.hits) {
    all.hits.push_back(thinned(of, corrected(of, as_read(of, stream, drop), drop), drop));
  }
  return all;
}

std::map<std::uint64_t, BuiltSlice> expected_slices(const RunCase& of) {
  std::map<std::uint64_t, BuiltSlice> slices;
  const auto slice_ticks = of.geometry().slice_ticks();
  const auto slice_at = [&](Tick time) -> BuiltSlice& { return slices[time / slice_ticks]; };
  const auto remaining = remaining_hits(of);
  for (const auto& [number, row] : remaining.dropped) slices[number].ledger = row;
  for (const auto& stream : remaining.hits) {
    for (const auto& hit : stream) {
      auto& row = slice_at(hit.time).ledger;
      ++row.hits_in;
      ++row.hits_outside;
    }
  }
  const std::vector<RefExpression> filters(of.filter.begin(), of.filter.end());
  for (const auto& event : reference_events(remaining.hits, of.definition, of.overlap)) {
    auto& slice = slice_at(event.first());
    const bool accepted = judge(filters, event, slice);
    for (const auto& hit : event.hits) {
      auto& row = slice_at(hit.time).ledger;
      --row.hits_outside;
      ++(accepted ? row.hits_in_events : row.hits_rejected);
    }
    if (accepted) add_event(slice, event, of.with_payload());
  }
  return slices;
}

std::string difference(const RunCase& of, const Outcome& outcome, bool stopped) {
  if (!outcome.faults.empty()) return outcome.faults.front();
  std::vector<std::pair<Roles, std::unique_ptr<Scheduler>>> sessions;
  for (const auto& roles : {of.roles, of.roles_after.value_or(of.roles)}) {
    sessions.emplace_back(roles, make_scheduler(of.schedule_settings(roles)));
  }
  const auto last = outcome.slices.empty() ? of.first_slice.value : outcome.slices.rbegin()->first;
  const auto finished = of.finished_set();
  std::uint64_t found = 0;
  for (const auto& [number, wanted] : expected_slices(of)) {
    if (number < of.first_slice.value || finished.contains({number}) || (stopped && number > last)) continue;
    const auto at = "slice " + std::to_string(number) + ": ";
    const auto written = outcome.slices.find(number);
    if (written == outcome.slices.end()) return at + "is not there";
    auto wrong = difference(written->second.slice, wanted);
    const auto& [roles, schedule] = sessions[written->second.after ? 1 : 0];
    if (wrong.empty()) wrong = wrong_place(of, roles, *schedule, outcome, written->second);
    if (!wrong.empty()) return at + wrong;
    ++found;
  }
  return found == outcome.slices.size() ? difference_of_further(of, outcome) : "there are unexpected slices";
}

}  // namespace eventloom::test
