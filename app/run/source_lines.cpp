#include "app/run/source_lines.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/document/detector_names.hpp"
#include "core/dataflow/live_stream.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/trouble_text.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

/// "source 3 (dssd: udp://:7100 board 3)", with the name that the map gives it.
std::string source_name(const RunSetup& setup, std::uint32_t number, const SourceInfo& source) {
  const auto label = source_label(KnownChannels(setup.detector.record), number);
  return fmt::format("source {} ({}{})", number, label.empty() ? "" : for_terminal(label) + ": ",
                     for_terminal(source.name));
}

void print_troubles(std::ostream& out, const RunSetup& setup, const RunResult& result) {
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    const auto text = trouble_text(counts_of(result, s).counters);
    if (!text.empty()) out << source_name(setup, s, setup.sources[s]) << ": " << text << '\n';
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
                        source_name(setup, steps[i].second, setup.sources[steps[i].second]));
  }
  if (steps.size() > kNamed) text += fmt::format(", less in {} more", steps.size() - kNamed);
  out << "times go back by up to " << text << '\n';
}

/// The data of a source, in corrected times.
struct SourceSpan {
  std::uint32_t source = 0;
  HitSpan ticks;
};

/// The spans of the recordings with data, in whole epochs where a resumed run has not seen all hits.
std::vector<SourceSpan> spans_of(const RunSetup& setup, const RunResult& result) {
  std::vector<SourceSpan> spans;
  for (const auto& [source, end] : result.ends) {
    const auto& info = setup.streams.at(source);
    if (info.live || !info.first_epoch || end <= *info.first_epoch) continue;
    const auto offsets = setup.offsets.empty() ? OffsetSpan{} : setup.offsets.at(source);
    const auto epoch_ticks = info.base.epoch_ticks;
    HitSpan ticks{tick_of_epoch(*info.first_epoch, epoch_ticks), tick_of_epoch(end, epoch_ticks) - 1};
    const auto seen = result.spans.find(source);
    if (result.slices_before == 0 && seen != result.spans.end()) ticks = seen->second;
    spans.push_back({source, {shifted(ticks.first, offsets.least), shifted(ticks.last, offsets.most)}});
  }
  return spans;
}

/// The longest length in the definitions: hits farther apart are joined by others at most.
Tick longest_length(const RunSetup& setup) {
  Tick longest = 0;
  for (const auto& wanted : setup.run.events) longest = std::max(longest, wanted.definition->traits().longest_length);
  return longest;
}

/// Names two sources: that of the earliest end and that of the latest beginning.
void report_apart(const RunSetup& setup, const RunResult& result) {
  if (setup.sorted || result.unfinished || setup.run.stretch != kAllTime) return;
  const auto spans = spans_of(setup, result);
  if (spans.size() < 2) return;
  const auto& first = *std::ranges::min_element(spans, {}, [](const auto& span) { return span.ticks.last; });
  const auto& last = *std::ranges::max_element(spans, {}, [](const auto& span) { return span.ticks.first; });
  const auto [end, begin] = std::pair(first.ticks.last, last.ticks.first);
  if (end >= begin || begin - end <= longest_length(setup)) return;
  const auto& base = setup.run.geometry.base;
  const auto text = [&](Tick tick) {
    return setup.numbered ? fmt::format("number {}", tick.value) : duration_text(tick, base.tick_ps);
  };
  log::warn(
      "the times of {}, which ends by {}, and of {}, which begins at {}, do not overlap: no hit of one is near one of "
      "the other{}",
      source_name(setup, first.source, setup.streams.at(first.source)), text(end),
      source_name(setup, last.source, setup.streams.at(last.source)), text(begin),
      setup.numbered ? "" : "; are their clocks and units the same? offset= shifts a clock");
}

/// Names two sources whose eras were placed without regard to each other.
void report_eras_apart(const RunSetup& setup, const RunResult& result) {
  std::optional<std::uint32_t> first;
  for (std::uint32_t s = 0; s < setup.streams.size(); ++s) {
    const auto& clock = setup.streams[s].era_clock;
    if (clock.empty() || counts_of(result, s).counters[Metric::jumps] == 0) continue;
    if (!first) first = s;
    if (clock == setup.streams[*first].era_clock) continue;
    log::warn(
        "after their jumps, the times of {} and {} are not aligned with each other: jumps=new-era continues each "
        "clock after its own last hit; clock=NAME in both URIs says that they share one",
        source_name(setup, *first, setup.streams[*first]), source_name(setup, s, setup.streams[s]));
    return;
  }
}

}  // namespace

void report_clocks(const RunSetup& setup, const RunResult& result) {
  report_apart(setup, result);
  report_eras_apart(setup, result);
}

void show_labels(RunSetup& setup) {
  const KnownChannels known(setup.detector.record);
  for (auto& source : setup.local) {
    const auto label = source_label(known, source.id.value);
    if (source.live != nullptr && !label.empty()) source.begin.name = label + ": " + source.live->name();
  }
}

void report_remarks(const RunSetup& setup, const RunResult& result) {
  constexpr std::size_t kNamed = 3;
  std::map<std::string, std::vector<std::uint32_t>> sources;
  for (const auto& [source, texts] : result.remarks) {
    for (const auto& text : texts) sources[text].push_back(source);
  }
  for (const auto& [text, numbers] : sources) {
    std::string names;
    for (std::size_t i = 0; i < std::min(numbers.size(), kNamed); ++i)
      names += (i == 0 ? "" : ", ") + source_name(setup, numbers[i], setup.streams.at(numbers[i]));
    if (numbers.size() > kNamed) names += fmt::format(" and {} more", numbers.size() - kNamed);
    log::warn("{}: {}", names, text);
  }
}

Json remarks_json(const RunResult& result) {
  auto list = Json::array();
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
