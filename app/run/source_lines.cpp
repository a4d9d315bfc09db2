#include "app/run/source_lines.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command/safe_text.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

std::string source_name(std::uint32_t number, const SourceInfo& source) {
  return fmt::format("source {} ({})", number, for_terminal(source.name));
}

void print_troubles(std::ostream& out, const RunSetup& setup, const RunResult& result) {
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    const auto counts = counts_of(result, s).counters;
    std::map<std::string_view, std::uint64_t> troubles;
    for (const auto& metric : metrics_of(Account::source)) {
      if (metric.trouble && counts[metric.metric] != 0) troubles[metric.name] = counts[metric.metric];
    }
    std::string text;
    for (const auto& [name, n] : troubles) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, n);
    if (!text.empty()) out << source_name(s, setup.sources[s]) << ": " << text << '\n';
  }
}

void print_disorder(std::ostream& out, const RunSetup& setup, const RunResult& result) {
  constexpr std::size_t kNamed = 3;
  constexpr std::uint64_t kPsPerNs = 1000;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> steps;
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    const auto step = counts_of(result, s).counters[Metric::step_back_ns];
    if (step != 0) steps.emplace_back(step, s);
  }
  if (steps.empty()) return;
  std::ranges::stable_sort(steps, std::ranges::greater{}, [](const auto& step) { return step.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(steps.size(), kNamed); ++i) {
    text += fmt::format("{}{} in {}", i == 0 ? "" : ", ", duration_text(Tick(steps[i].first), kPsPerNs),
                        source_name(steps[i].second, setup.sources[steps[i].second]));
  }
  if (steps.size() > kNamed) text += fmt::format(", less in {} more", steps.size() - kNamed);
  out << "times go back by up to " << text << '\n';
}

}  // namespace

void tell_remarks(const RunSetup& setup, const RunResult& result) {
  for (const auto& [source, texts] : result.remarks) {
    for (const auto& text : texts) {
      spdlog::warn("{}: {}", source_name(source, setup.streams.at(source)), text);
    }
  }
}

nlohmann::ordered_json remarks_json(const RunResult& result) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [source, texts] : result.remarks) {
    for (const auto& text : texts) list.push_back({{"source", source}, {"text", text}});
  }
  return list;
}

void print_sources(std::ostream& out, const RunSetup& setup, const RunResult& result) {
  print_troubles(out, setup, result);
  print_disorder(out, setup, result);
}

}  // namespace eventloom
