#include "event_reference.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

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

/// The numbers behind the colon.
std::vector<std::uint64_t> values_of(const std::string& definition) {
  std::vector<std::uint64_t> values;
  std::istringstream text(definition.substr(definition.find(':') + 1));
  for (std::string value; std::getline(text, value, ',');) values.push_back(std::stoull(value));
  return values;
}

std::vector<std::vector<RefHit>> multiplicity_runs(const std::vector<RefHit>& hits,
                                                   const std::vector<std::uint64_t>& values) {
  const auto [width, threshold, pre, post] = std::tuple(values.at(0), values.at(1), values.at(2), values.at(3));
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

std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap) {
  std::vector<RefHit> hits;
  for (const auto& stream : streams) hits.insert(hits.end(), stream.begin(), stream.end());
  std::stable_sort(hits.begin(), hits.end(), [](const RefHit& a, const RefHit& b) { return a.time < b.time; });
  const auto values = definition == "tag" ? std::vector<std::uint64_t>{0, 1} : values_of(definition);
  const bool multiplicity = definition.starts_with("multiplicity");
  const auto runs = multiplicity ? multiplicity_runs(hits, values) : gap_runs(hits, values.at(0));
  std::vector<RefEvent> events;
  for (const auto& run : runs) {
    auto event = cut(run, overlap);
    if (multiplicity || event.hits.size() >= values.at(1)) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace eventloom::test
