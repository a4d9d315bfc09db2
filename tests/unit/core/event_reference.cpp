#include "event_reference.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include "expression_reference.hpp"

namespace eventloom::test {

namespace {

std::vector<std::vector<RefHit>> gap_runs(const std::vector<RefHit>& hits, Tick gap) {
  std::vector<std::vector<RefHit>> runs;
  for (const auto& hit : hits) {
    if (runs.empty() || hit.time - runs.back().back().time > gap) runs.emplace_back();
    runs.back().push_back(hit);
  }
  return runs;
}

/// The numbers after the colon.
std::vector<std::uint64_t> values_of(const std::string& definition) {
  std::vector<std::uint64_t> values;
  std::istringstream text(definition.substr(definition.find(':') + 1));
  for (std::string value; std::getline(text, value, ',');) values.push_back(std::stoull(value));
  return values;
}

std::vector<std::vector<RefHit>> multiplicity_runs(const std::vector<RefHit>& hits,
                                                   const std::vector<std::uint64_t>& values) {
  const auto [width, threshold, pre, post] = std::tuple(Tick(values.at(0)), values.at(1), values.at(2), values.at(3));
  std::map<std::uint64_t, std::uint64_t> histogram;
  for (const auto& hit : hits) ++histogram[hit.time / width];
  std::set<std::uint64_t> covered;
  for (const auto& [bin, count] : histogram) {
    if (count < threshold) continue;
    for (std::uint64_t b = bin < pre ? 0 : bin - pre; b <= bin + post; ++b) covered.insert(b);
  }
  std::map<std::uint64_t, std::size_t> event_of_bin;  // neighbours share their event
  std::size_t n = 0;
  for (const auto bin : covered) event_of_bin[bin] = bin > 0 && covered.contains(bin - 1) ? n - 1 : n++;
  std::vector<std::vector<RefHit>> runs(n);
  for (const auto& hit : hits) {
    if (const auto at = event_of_bin.find(hit.time / width); at != event_of_bin.end()) {
      runs[at->second].push_back(hit);
    }
  }
  return runs;
}

/// The parts between the separators.
std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

using HitSpan = std::span<const RefHit>;

/// The hits in [begin, end].
HitSpan inside(const std::vector<RefHit>& hits, Tick begin, Tick end) {
  return {std::ranges::lower_bound(hits, begin, {}, &RefHit::time),
          std::ranges::upper_bound(hits, end, {}, &RefHit::time)};
}

/// Closed intervals of ticks, ascending.
using Intervals = std::vector<std::pair<Tick, Tick>>;

/// All hits in each interval, which is widened and joined with those that share a tick with it.
std::vector<std::vector<RefHit>> widened_runs(const std::vector<RefHit>& hits, const Intervals& intervals, Tick pre,
                                              Tick post) {
  Intervals joined;
  for (auto [begin, end] : intervals) {
    begin = begin < pre ? 0 : begin - pre;
    end += post;
    if (!joined.empty() && begin <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, end);
    } else {
      joined.emplace_back(begin, end);
    }
  }
  std::vector<std::vector<RefHit>> runs;
  for (const auto& [begin, end] : joined) {
    const auto run = inside(hits, begin, end);
    runs.emplace_back(run.begin(), run.end());
  }
  return runs;
}

std::vector<std::vector<RefHit>> coincidence_runs(const std::vector<RefHit>& hits, const std::string& definition) {
  const auto values = split(definition.substr(definition.find(':') + 1), ",");
  const Tick window(std::stoull(values.at(0)));
  const RefExpression condition(values.at(1));
  Intervals accepted;
  for (const auto& opens : hits) {
    if (condition.holds(inside(hits, opens.time, opens.time + window)))
      accepted.emplace_back(opens.time, opens.time + window);
  }
  const auto widening = [&](std::size_t i) { return Tick(i < values.size() ? std::stoull(values[i]) : 0); };
  return widened_runs(hits, accepted, widening(2), widening(3));
}

std::vector<std::vector<RefHit>> widened_gap_runs(const std::vector<RefHit>& hits,
                                                  const std::vector<std::uint64_t>& values) {
  Intervals kept;
  for (const auto& run : gap_runs(hits, Tick(values.at(0)))) {
    if (run.size() >= values.at(1)) kept.emplace_back(run.front().time, run.back().time);
  }
  return widened_runs(hits, kept, Tick(values.at(2)), Tick(values.at(3)));
}

/// The hits in each bin of length L.
std::vector<std::vector<RefHit>> fixed_runs(const std::vector<RefHit>& hits, Tick length) {
  std::map<std::uint64_t, std::vector<RefHit>> bins;
  for (const auto& hit : hits) bins[hit.time / length].push_back(hit);
  std::vector<std::vector<RefHit>> runs;
  for (auto& [bin, run] : bins) runs.push_back(std::move(run));
  return runs;
}

std::vector<std::vector<RefHit>> trigger_runs(const std::vector<RefHit>& hits, const std::string& definition) {
  const auto values = split(definition.substr(definition.find(':') + 1), ",");
  const RefExpression condition(values.at(0));
  Intervals windows;
  for (const auto& hit : hits) {
    if (condition.holds(HitSpan(&hit, 1))) windows.emplace_back(hit.time, hit.time);
  }
  return widened_runs(hits, windows, Tick(std::stoull(values.at(1))), Tick(std::stoull(values.at(2))));
}

/// DT and DR of cluster:DT,DR,M; DR is a whole number of pixels.
struct RefNear {
  Tick time = 0;
  std::int64_t radius = 0;

  [[nodiscard]] bool links(const RefHit& a, const RefHit& b) const {
    const auto chip = [](const RefHit& hit) { return hit.channel >> 16; };
    const auto apart = [&](unsigned shift) {
      const auto at = [&](const RefHit& hit) { return static_cast<std::int64_t>(hit.channel >> shift & 0xffU); };
      return at(a) - at(b);
    };
    if (a.source != b.source || chip(a) != chip(b) || chip(a) % 64 == 63) return false;
    if (std::max(a.time, b.time) - std::min(a.time, b.time) > time) return false;
    return apart(0) * apart(0) + apart(8) * apart(8) <= radius * radius;
  }
};

/// The hits connected with one of them through hits up to a time, ascending.
std::set<std::size_t> connected(const std::vector<RefHit>& hits, const RefNear& near, std::size_t with, Tick last) {
  std::set<std::size_t> found = {with};
  std::vector<std::size_t> next = {with};
  while (!next.empty()) {
    const auto from = next.back();
    next.pop_back();
    const auto low = hits[from].time - std::min(hits[from].time, near.time);
    const auto begin = std::ranges::lower_bound(hits, low, {}, &RefHit::time) - hits.begin();
    for (auto i = static_cast<std::size_t>(begin); i < hits.size() && hits[i].time <= hits[from].time + near.time;
         ++i) {
      if (hits[i].time <= last && near.links(hits[from], hits[i]) && found.insert(i).second) next.push_back(i);
    }
  }
  return found;
}

/// Every event by its definition: a hit begins one if no earlier hit is connected with it through hits up to an overlap
/// later.
std::vector<RefEvent> cluster_events(const std::vector<RefHit>& hits, const std::string& definition, Tick overlap) {
  const auto values = values_of(definition);
  const RefNear near{Tick(values.at(0)), static_cast<std::int64_t>(values.at(1))};
  std::vector<RefEvent> events;
  for (std::size_t first = 0; first < hits.size(); ++first) {
    const auto part = connected(hits, near, first, hits[first].time + overlap);
    if (*part.begin() != first) continue;
    const auto whole = connected(hits, near, first, std::numeric_limits<Tick>::max());
    if (whole.size() < values.at(2)) continue;
    auto& event = events.emplace_back();
    event.truncated = whole.size() > part.size();
    for (const auto hit : part) event.hits.push_back(hits[hit]);
  }
  return events;
}

RefEvent cut(std::vector<RefHit> run, Tick overlap) {
  RefEvent event;
  for (auto& hit : run) {
    if (hit.time - run.front().time > overlap) {
      event.truncated = true;
      break;
    }
    event.hits.push_back(hit);
  }
  return event;
}

std::vector<std::vector<RefHit>> runs_of(const std::vector<RefHit>& hits, const std::string& definition) {
  if (definition.starts_with("coincidence")) return coincidence_runs(hits, definition);
  if (definition.starts_with("trigger")) return trigger_runs(hits, definition);
  if (definition == "tag") return gap_runs(hits, 0);
  const auto values = values_of(definition);
  if (definition.starts_with("fixed")) return fixed_runs(hits, Tick(values.at(0)));
  if (definition.starts_with("multiplicity")) return multiplicity_runs(hits, values);
  if (values.size() > 2) return widened_gap_runs(hits, values);
  auto runs = gap_runs(hits, Tick(values.at(0)));
  std::erase_if(runs, [&](const auto& run) { return run.size() < values.at(1); });
  return runs;
}

/// Events of different sources that begin at the same tick are in the order of the sources.
std::vector<RefEvent> events_of_each(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                     Tick overlap) {
  std::vector<RefEvent> events;
  for (const auto& stream : streams)
    std::ranges::move(reference_events({stream}, definition, overlap), std::back_inserter(events));
  std::ranges::stable_sort(events, {}, &RefEvent::first);
  return events;
}

}  // namespace

std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap) {
  if (definition.starts_with(kPerSource)) return events_of_each(streams, definition.substr(kPerSource.size()), overlap);
  std::vector<RefHit> hits;
  for (const auto& stream : streams) hits.insert(hits.end(), stream.begin(), stream.end());
  std::stable_sort(hits.begin(), hits.end(), [](const RefHit& a, const RefHit& b) { return a.time < b.time; });
  if (definition.starts_with("cluster")) return cluster_events(hits, definition, overlap);
  std::vector<RefEvent> events;
  for (const auto& run : runs_of(hits, definition)) events.push_back(cut(run, overlap));
  return events;
}

}  // namespace eventloom::test
