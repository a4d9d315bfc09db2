#include "app/view/show/summary_text.hpp"

#include <algorithm>
#include <functional>

#include "app/command/safe_text.hpp"
#include "app/document/detector_names.hpp"
#include "app/document/text_bar.hpp"
#include "core/runtime/format.hpp"
#include "formats/channel_text.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kTextBins = 16;
constexpr std::size_t kMostSources = 80;
constexpr std::size_t kMostChannelRows = 20;
constexpr std::size_t kNameColumns = 28;

using ValueText = std::function<std::string(std::uint64_t)>;

void print_histogram(std::ostream& out, const std::string& title, const ValueHistogram& values, const ValueText& text) {
  out << '\n' << title << ": " << values.count() << " entries";
  if (values.count() == 0) {
    out << '\n';
    return;
  }
  out << ", from " << text(values.least()) << " to " << text(values.greatest()) << '\n';
  const auto bins = values.bins(kTextBins);
  const auto greatest = *std::ranges::max_element(bins.counts);
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const bool single = bins.edges[i] + 1 == bins.edges[i + 1];
    const auto range = text(bins.edges[i]) + (single ? "" : " up to " + text(bins.edges[i + 1]));
    out << fmt::format("  {:<28} {:>12}  {}\n", range, bins.counts[i], text_bar(bins.counts[i], greatest));
  }
}

std::string rate_text(std::uint64_t n, double seconds) {
  return seconds > 0 ? fmt::format("{:.4g}/s", static_cast<double>(n) / seconds) : "";
}

void print_sources(std::ostream& out, const RunTables& run, const RunSummary& summary, double seconds) {
  const auto hits = summary.hits.of_sources();
  const auto greatest = hits.empty() ? 1 : std::max<std::uint64_t>(*std::ranges::max_element(hits), 1);
  const auto& sources = run.record.sources;
  out << "\nhits in events, by source\n";
  for (std::size_t s = 0; s < std::min(sources.size(), kMostSources); ++s) {
    const auto n = s < hits.size() ? hits[s] : 0;
    const auto label = for_terminal(source_label(summary.known, static_cast<std::uint32_t>(s)));
    out << fmt::format("  {:>5} {:>12} {:>12}  {:<{}}  {}\n", s, n, rate_text(n, seconds), text_bar(n, greatest),
                       kBarColumns, (label.empty() ? "" : label + ", ") + for_terminal(sources[s].name));
  }
  if (sources.size() > kMostSources) out << "  and " << sources.size() - kMostSources << " more sources\n";
}

void print_groups(std::ostream& out, const RunSummary& summary, double seconds) {
  const auto& names = summary.known.groups();
  if (names.empty()) return;
  auto hits = summary.groups.of_group;
  hits.push_back(summary.groups.of_none);
  const auto greatest = std::max<std::uint64_t>(*std::ranges::max_element(hits), 1);
  out << "\nhits in events, by group\n";
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto name = i < names.size() ? end_of(for_terminal(names[i]), kNameColumns) : "(none)";
    out << "  " << name << std::string(kNameColumns - columns_of(name), ' ')
        << fmt::format(" {:>12} {:>12}  {}\n", hits[i], rate_text(hits[i], seconds), text_bar(hits[i], greatest));
  }
}

void print_channels(std::ostream& out, const RunSummary& summary, double seconds) {
  std::vector<ChannelRow> rows;
  for (const auto& of : summary.hits.busiest(kMostChannelRows)) {
    for (const auto& [channel, hits] : of.channels) rows.push_back({of.source, channel, hits});
  }
  std::ranges::stable_sort(rows, std::greater<>(), &ChannelRow::hits);
  rows.resize(std::min(rows.size(), kMostChannelRows));
  out << "\nhits in events, by channel: the " << rows.size() << " with most\n";
  for (const auto& row : rows) {
    const auto name = end_of(for_terminal(summary.known.name_of(row.source, row.channel)), kNameColumns);
    const auto marks = text_bar(row.hits, rows.front().hits);
    out << fmt::format("  source {:>5} channel {:>11} {:>12} {:>12}  {}\n", row.source, channel_text(row.channel),
                       row.hits, rate_text(row.hits, seconds),
                       name.empty() ? marks : fmt::format("{:<{}}  {}", marks, kBarColumns, name));
  }
}

/// Prints the UTC range of the slices that have data.
void print_utc(std::ostream& out, const RunTables& run, const RunSummary& summary) {
  const Tick slice_ticks(run.record.epochs_per_slice * run.record.base.epoch_ticks);
  const auto first = utc_of_tick(run.record, summary.series.first_slice * slice_ticks);
  const auto end = utc_of_tick(run.record, (summary.series.first_slice + summary.series.slices) * slice_ticks);
  if (summary.series.slices > 0 && first && end) out << "from " << *first << " to " << *end << '\n';
}

}  // namespace

void print_run_summary(std::ostream& out, const RunTables& run, const RunSummary& summary) {
  const auto& t = summary.totals;
  const bool numbered = run.record.numbered;
  const double seconds = numbered ? 0 : static_cast<double>(summary.series.slices) * slice_seconds(run.record);
  const ValueText plain = [](std::uint64_t n) { return std::to_string(n); };
  const ValueText time = [&](std::uint64_t n) {
    return numbered ? std::to_string(n) : duration_text(Tick(n), run.record.base.tick_ps);
  };
  if (const auto of = run_text(run.record); !of.empty()) out << for_terminal(of) << '\n';
  if (!run.record.missing.empty()) {
    out << for_terminal(run.record.missing) << ":\n";
  } else if (!run.record.closed) {
    out << "the run has not ended: running, or stopped; finished so far:\n";
  }
  out << fmt::format("{} events with {} of {} hits in {} slices from {} sources{}\n", t[Metric::events],
                     t[Metric::hits_written], t[Metric::hits_in], t[Metric::slices], run.record.sources.size(),
                     numbered ? "" : fmt::format(", over {:.6g} s of data", seconds));
  print_utc(out, run, summary);
  print_histogram(out, "multiplicity [hits]", summary.multiplicity, plain);
  if (!numbered) print_histogram(out, "duration", summary.duration, time);
  print_histogram(out, numbered ? "difference of event numbers" : "time between events", summary.interval, time);
  print_sources(out, run, summary, seconds);
  print_groups(out, summary, seconds);
  print_channels(out, summary, seconds);
}

}  // namespace eventloom
