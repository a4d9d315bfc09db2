#include "core/runtime/metrics.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <type_traits>

#include "core/dataflow/source_counts.hpp"

namespace eventloom {
namespace {

/// Whether Prometheus accepts the name after `eventloom_`.
bool well_formed(std::string_view name) {
  const auto fits = [](char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_'; };
  return !name.empty() && std::islower(name.front()) != 0 && std::ranges::all_of(name, fits);
}

TEST(Metrics, TheTableHasARowForEachInOrder) {
  ASSERT_EQ(all_metrics().size(), kMetrics);
  for (std::size_t i = 0; i < kMetrics; ++i) EXPECT_EQ(index_of(all_metrics()[i].metric), i);
  EXPECT_EQ(info(Metric::kernel_drops).name, "kernel_drops");
  EXPECT_EQ(info(Metric::source_hits_in).name, "hits_in");
}

TEST(Metrics, NamesAreUniqueAndWellFormedAndHelpIsThere) {
  std::set<std::string> exported;
  for (const auto& metric : all_metrics()) {
    const auto name = (account_of(metric.metric) == Account::source ? "source_" : "") + std::string(metric.name);
    EXPECT_TRUE(well_formed(metric.name)) << name;
    EXPECT_TRUE(exported.insert(name).second) << name;
    EXPECT_FALSE(metric.help.empty()) << name;
    EXPECT_TRUE(metric.unit.empty() || well_formed(metric.unit)) << name;
  }
}

TEST(Metrics, AccountsAreThePartsOfTheTable) {
  std::size_t rows = 0;
  for (const auto account : {Account::slices, Account::dropped, Account::exchange, Account::rank, Account::tap,
                             Account::reply, Account::source}) {
    const auto part = metrics_of(account);
    ASSERT_FALSE(part.empty());
    EXPECT_EQ(index_of(part.front().metric), rows);
    for (const auto& metric : part) EXPECT_EQ(account_of(metric.metric), account) << metric.name;
    rows += part.size();
  }
  EXPECT_EQ(rows, kMetrics);
}

TEST(Metrics, EachDropCauseHasOneOfTheRunAndOneOfASource) {
  ASSERT_EQ(metrics_of(Account::dropped).size(), kDropCauses);
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto name = "hits_dropped_" + std::string(kDropCauseNames[i]);
    const auto& of_run = info(dropped_hits(static_cast<DropCause>(i)));
    EXPECT_EQ(of_run.name, name);
    EXPECT_EQ(account_of(of_run.metric), Account::dropped);
    EXPECT_EQ(of_run.trouble, !wanted(static_cast<DropCause>(i))) << "other hits that are dropped are losses";
    const auto& of_source = info(source_dropped_hits(static_cast<DropCause>(i)));
    EXPECT_EQ(of_source.name, name);
    EXPECT_EQ(account_of(of_source.metric), Account::source);
  }
}

TEST(Counters, AddUpAsTheTableSays) {
  Counters a{{Metric::hits_read, 5}, {Metric::peak_rss_bytes, 70}, {Metric::first_number, 3}, {Metric::last_number, 9}};
  a.add({{Metric::hits_read, 6}, {Metric::peak_rss_bytes, 60}, {Metric::first_number, 2}, {Metric::last_number, 8}});
  EXPECT_EQ(a[Metric::hits_read], 11U);
  EXPECT_EQ(a[Metric::peak_rss_bytes], 70U);
  EXPECT_EQ(a[Metric::first_number], 2U);
  EXPECT_EQ(a[Metric::last_number], 9U);
  a.add({});
  EXPECT_EQ(a[Metric::first_number], 2U) << "counters without a count do not lower a minimum";
  Counters none;
  none.add(a);
  EXPECT_EQ(none, a) << "in either order";
  a.add({{Metric::first_number, 0}});
  EXPECT_EQ(a[Metric::first_number], 0U);
}

TEST(Counters, AllTakePartInAdding) {
  Counters all;
  Counters other;
  for (const auto& metric : all_metrics()) {
    all[metric.metric] = 1000 + index_of(metric.metric);
    other[metric.metric] = 1;
  }
  all.add(other);
  for (const auto& metric : all_metrics()) {
    const auto before = 1000 + index_of(metric.metric);
    const bool adds = metric.adding == Adding::sum || metric.adding == Adding::level;
    const auto expected = adds ? before + 1 : metric.adding == Adding::max ? before : 1;
    EXPECT_EQ(all[metric.metric], expected) << metric.name;
  }
}

TEST(Counters, ListWhatIsKeptOrNotZero) {
  Counters counters{Metric::datagrams, {Metric::bytes, 4}};
  counters[Metric::duplicates] = 1;
  counters[Metric::messages] = 9;
  EXPECT_EQ(counters.by_name(), (CountsByName{{"datagrams", 0}, {"bytes", 4}, {"duplicates", 1}}))
      << "those of the run are not of a source";
  counters.keep({{Metric::bytes, 2}, Metric::restarts});
  EXPECT_EQ(counters.by_name(), (CountsByName{{"datagrams", 0}, {"bytes", 6}, {"duplicates", 1}, {"restarts", 0}}));
  Counters sum;
  sum.add(counters);
  EXPECT_EQ(sum.by_name(), counters.by_name());
}

TEST(Counters, ReportTrouble) {
  EXPECT_FALSE(Counters().any_trouble());
  EXPECT_FALSE((Counters{{Metric::hits_in, 1}, {Metric::hits_rejected, 1}, Metric::anomalies}).any_trouble());
  for (const auto metric : {Metric::anomalies, Metric::events_truncated, Metric::incomplete_slices,
                            dropped_hits(DropCause::late), Metric::kernel_drops}) {
    EXPECT_TRUE((Counters{{metric, 1}}).any_trouble()) << info(metric).name;
  }
}

TEST(SourceCounts, CountTriggersByType) {
  SourceCounts counts{{{Metric::source_events, 4}}, {}};
  for (const std::size_t type : {1, 14, 255, 256, 65535}) counts.triggers.count(type);
  SourceCounts twice = counts;
  twice.add(counts);
  EXPECT_EQ(
      twice.by_name(),
      (CountsByName{{"events", 8}, {"trigger_1", 2}, {"trigger_14", 2}, {"trigger_255", 2}, {"trigger_other", 4}}));
  static_assert(std::is_trivially_copyable_v<SourceCounts>, "ranks send them to each other");
}

}  // namespace
}  // namespace eventloom
