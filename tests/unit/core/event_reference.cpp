#include "event_reference.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

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

std::uint64_t count_in_group(const std::string& group, HitSpan hits) {
  std::vector<RefGroup> parts;
  std::ranges::copy_if(reference_groups(), std::back_inserter(parts), [&](const auto& p) { return p.name == group; });
  return static_cast<std::uint64_t>(std::ranges::count_if(hits, [&](const RefHit& hit) {
    return std::ranges::any_of(parts, [&](const RefGroup& part) {
      return part.source.value_or(hit.source) == hit.source && part.low <= hit.channel && hit.channel <= part.high;
    });
  }));
}

/// NAME[:LOW-HIGH] OP NUMBER.
struct RefTerm {
  std::string name;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string comparison;
  std::uint64_t number = 0;
};
/// A disjunction of conjunctions.
using RefCondition = std::vector<std::vector<RefTerm>>;

RefCondition parse_condition(const std::string& text) {
  static const std::regex form("(\\w+)(?::(\\w+)-(\\w+))?(==|!=|<=|>=|<|>)(\\d+)");
  RefCondition condition;
  for (const auto& all : split(text, "||")) {
    condition.emplace_back();
    for (const auto& term : split(all, "&&")) {
      std::smatch parts;
      if (!std::regex_match(term, parts, form)) throw std::invalid_argument(term);
      const auto number = [&](std::size_t i) { return parts[i].matched ? std::stoull(parts[i], nullptr, 0) : 0; };
      condition.back().push_back({parts[1], number(2), number(3), parts[4], number(5)});
    }
  }
  return condition;
}

std::uint64_t measure(const RefTerm& term, HitSpan hits) {
  if (term.name == "n_hits") return hits.size();
  if (term.name == "sources" || term.name == "systems") {
    std::set<std::uint32_t> values;
    for (const auto& hit : hits) values.insert(term.name == "sources" ? hit.source : hit.channel >> 22 & 63U);
    return values.size();
  }
  if (term.name != "channel" && term.name != "source") return count_in_group(term.name, hits);
  const bool of_channels = term.name == "channel";
  return static_cast<std::uint64_t>(std::ranges::count_if(hits, [&](const RefHit& hit) {
    const auto value = of_channels ? hit.channel : hit.source;
    return term.low <= value && value <= term.high;
  }));
}

bool holds(const RefTerm& term, HitSpan hits) {
  const auto value = measure(term, hits);
  if (term.comparison == "==") return value == term.number;
  if (term.comparison == "!=") return value != term.number;
  if (term.comparison == "<=") return value <= term.number;
  if (term.comparison == ">=") return value >= term.number;
  return term.comparison == "<" ? value < term.number : value > term.number;
}

bool holds(const RefCondition& condition, HitSpan hits) {
  return std::ranges::any_of(condition, [&](const std::vector<RefTerm>& all) {
    return std::ranges::all_of(all, [&](const RefTerm& term) { return holds(term, hits); });
  });
}

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
  const auto condition = parse_condition(values.at(1));
  Intervals accepted;
  for (const auto& opens : hits) {
    if (holds(condition, inside(hits, opens.time, opens.time + window)))
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

const std::vector<RefGroup>& reference_groups() {
  constexpr std::uint32_t kLast = 0xfffffff;
  static const std::vector<RefGroup> groups = {
      {"A", std::nullopt, 0, 99},         {"A", std::nullopt, 0x5000000, 0x7ffffff},
      {"B", std::uint16_t{1}, 50, 499},   {"B", std::uint16_t{1}, 0x6000000, 0xbffffff},
      {"B", std::uint16_t{0}, 20, kLast}, {"none", std::uint16_t{0}, 1, 0}};
  return groups;
}

bool reference_holds(const std::string& condition, const std::vector<RefHit>& hits) {
  return holds(parse_condition(condition), hits);
}

std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap) {
  std::vector<RefHit> hits;
  for (const auto& stream : streams) hits.insert(hits.end(), stream.begin(), stream.end());
  std::stable_sort(hits.begin(), hits.end(), [](const RefHit& a, const RefHit& b) { return a.time < b.time; });
  std::vector<std::vector<RefHit>> runs;
  std::uint64_t least = 1;  // fewest hits left by the cut
  if (definition.starts_with("coincidence")) {
    runs = coincidence_runs(hits, definition);
  } else {
    const auto values = definition == "tag" ? std::vector<std::uint64_t>{0, 1} : values_of(definition);
    const bool multiplicity = definition.starts_with("multiplicity");
    const bool plain = !multiplicity && values.size() == 2;
    runs = multiplicity ? multiplicity_runs(hits, values)
           : plain      ? gap_runs(hits, Tick(values.at(0)))
                        : widened_gap_runs(hits, values);
    if (plain) least = values.at(1);
  }
  std::vector<RefEvent> events;
  for (const auto& run : runs) {
    auto event = cut(run, overlap);
    if (event.hits.size() >= least) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace eventloom::test
