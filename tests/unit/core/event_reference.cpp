#include "event_reference.hpp"

#include <algorithm>
#include <map>
#include <set>

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

std::vector<std::vector<RefHit>> multiplicity_runs(const std::vector<RefHit>& hits, const MultiplicityDefinition& m) {
  std::map<std::uint64_t, std::uint64_t> histogram;
  for (const auto& hit : hits) ++histogram[hit.time / m.width];
  std::set<std::uint64_t> covered;
  for (const auto& [bin, count] : histogram) {
    if (count < m.threshold) continue;
    for (std::uint64_t b = bin < m.pre ? 0 : bin - m.pre; b <= bin + m.post; ++b) covered.insert(b);
  }
  std::map<std::uint64_t, std::size_t> event_of_bin;  // neighbours share their event
  std::size_t n = 0;
  for (const auto bin : covered) event_of_bin[bin] = bin > 0 && covered.contains(bin - 1) ? n - 1 : n++;
  std::vector<std::vector<RefHit>> runs(n);
  for (const auto& hit : hits) {
    if (const auto at = event_of_bin.find(hit.time / m.width); at != event_of_bin.end()) {
      runs[at->second].push_back(hit);
    }
  }
  return runs;
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

}  // namespace

std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams,
                                       const EventDefinition& definition, Tick overlap) {
  std::vector<RefHit> hits;
  for (const auto& stream : streams) hits.insert(hits.end(), stream.begin(), stream.end());
  std::stable_sort(hits.begin(), hits.end(), [](const RefHit& a, const RefHit& b) { return a.time < b.time; });
  const auto* gap = std::get_if<GapDefinition>(&definition);
  const auto* multiplicity = std::get_if<MultiplicityDefinition>(&definition);
  const auto runs =
      multiplicity != nullptr ? multiplicity_runs(hits, *multiplicity) : gap_runs(hits, gap != nullptr ? gap->gap : 0);
  std::vector<RefEvent> events;
  for (const auto& run : runs) {
    auto event = cut(run, overlap);
    if (gap == nullptr || event.hits.size() >= gap->min_hits) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace eventloom::test
