#include <algorithm>
#include <chrono>

#include "core/dataflow/run_totals.hpp"
#include "engine_fixture.hpp"
#include "formats/hash.hpp"
#include "formats/markers.hpp"

namespace eventloom::test {
namespace {

/// Compares rank 0's view of whole runs with their output.
class Telemetry : public Engine {
 protected:
  static RunTotals written(const Outcome& outcome) {
    RunTotals totals;
    for (const auto& [number, slice] : outcome.slices) totals.add(slice.slice);
    return totals;
  }
  static void expect_true(const RunCase& of, const Outcome& outcome) {
    const auto& picture = outcome.picture;
    const auto ledger = written(outcome);
    const auto totals = picture.totals();
    ASSERT_TRUE(picture.complete()) << text_of(of);
    for (const auto account : {Account::slices, Account::dropped}) {
      for (const auto& metric : metrics_of(account)) {
        if (metric.metric == Metric::anomalies) continue;
        EXPECT_EQ(totals[metric.metric], ledger[metric.metric]) << metric.name << "; " << text_of(of);
      }
    }
    EXPECT_EQ(totals[Metric::hits_read], outcome.hits_read) << text_of(of);
    expect_rows(of, outcome, ledger);
    expect_histograms(of, outcome);
    expect_channels(of, outcome);
    expect_latest_event(of, outcome);
  }
  static void expect_latest_event(const RunCase& of, const Outcome& outcome) {
    const auto& reported = outcome.picture.events();
    if (!of.telemetry.pictures) {
      EXPECT_TRUE(reported.empty()) << text_of(of);
      return;
    }
    const auto has_events = [](const auto& written) { return written.second.slice.events.size() != 0; };
    const auto last = std::find_if(outcome.slices.rbegin(), outcome.slices.rend(), has_events);
    if (last == outcome.slices.rend()) return;
    ASSERT_FALSE(reported.empty()) << text_of(of);
    EXPECT_EQ(reported.back().event.time, last->second.slice.events.time.back().value) << text_of(of);
  }
  static void expect_channels(const RunCase& of, const Outcome& outcome) {
    ChannelCounts written;
    for (const auto& [number, slice] : outcome.slices) {
      if (of.telemetry.pictures) written.add(slice.slice.hits.source, slice.slice.hits.channel);
    }
    EXPECT_EQ(outcome.picture.channels().busiest(1024), written.busiest(1024)) << text_of(of);
  }
  static void expect_rows(const RunCase& of, const Outcome& outcome, const RunTotals& ledger) {
    std::uint64_t built = 0;
    std::uint64_t read = 0;
    std::uint64_t events = 0;
    std::uint64_t rejected = 0;
    for (const auto& rank : outcome.picture.ranks()) {
      for (const auto& [number, row] : rank.builders) built += row.hits;
      for (const auto& [number, row] : rank.sources) read += row.hits;
      for (const auto& [number, row] : rank.writers) {
        events += row.events;
        rejected += row.events_rejected;
      }
    }
    EXPECT_EQ(built, ledger[Metric::hits_in]) << text_of(of);
    EXPECT_EQ(read, outcome.hits_read) << text_of(of);
    EXPECT_EQ(events, ledger[Metric::events]) << text_of(of);
    EXPECT_EQ(rejected, ledger[Metric::events_rejected]) << text_of(of);
  }
  static void expect_histograms(const RunCase& of, const Outcome& outcome) {
    LogHistogram multiplicity;
    LogHistogram duration;
    for (const auto& [number, written] : outcome.slices) {
      for (const auto n : written.slice.events.n_hits) multiplicity.add(n);
      for (const auto ticks : written.slice.events.duration) duration.add(ticks.value);
    }
    const auto reported = outcome.picture.histogram(HistogramKind::multiplicity);
    const auto durations = outcome.picture.histogram(HistogramKind::duration);
    for (std::size_t bin = 0; bin < LogHistogram::kBins; ++bin) {
      EXPECT_EQ(reported[bin], of.telemetry.pictures ? multiplicity[bin] : 0) << text_of(of);
      EXPECT_EQ(durations[bin], of.telemetry.pictures ? duration[bin] : 0) << text_of(of);
    }
  }
};

TEST_F(Telemetry, SumsAreThoseOfTheLedger) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.any();
    of.telemetry = {.counters = true, .pictures = maker.draw(0, 1) == 0, .interval = std::chrono::microseconds(300)};
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    if (of.roles.filters != 0) of.filter = {"n_hits>=3"};
    expect_true(of, expect_whole(of));
  }
}

TEST_F(Telemetry, OneWriterSeesEveryInterval) {
  for (const auto seed : Seeds(30)) {
    auto of = CaseMaker(seed).steady(40);
    of.roles.filters = 1;
    of.telemetry = {.counters = true, .pictures = true};
    const auto outcome = expect_whole(of);
    const auto events = outcome.picture.totals()[Metric::events];
    EXPECT_EQ(outcome.picture.histogram(HistogramKind::interval).count(), events - std::min<std::uint64_t>(events, 1));
  }
}

TEST_F(Telemetry, IsSilentUnlessAsked) {
  const auto outcome = expect_whole(CaseMaker(3).steady(40));
  EXPECT_EQ(outcome.picture.ranks().size(), 0U);
  EXPECT_EQ(outcome.picture.bytes_received(), 0U);
}

/// 64 ranks, and hits on any of 2^28 channels. To keep the run short, an interval of 2 ms represents that of a second.
TEST_F(Telemetry, TrafficOfManyRanksIsSmall) {
  auto of = CaseMaker(5).steady(60);
  of.roles = {.sources = 32, .builders = 24, .filters = 8, .ranks = 64};
  of.simulation.ranks = 64;
  const auto few = of.hits;
  of.hits.clear();
  for (std::uint16_t s = 0; s < of.roles.sources; ++s) {
    of.hits.push_back(few[s % few.size()]);
    for (auto& hit : of.hits.back()) {
      hit.source = s;
      hit.channel = static_cast<std::uint32_t>(splitmix64(hit.time.value ^ s) & kValueMask);
    }
  }
  of.telemetry = {.counters = true, .pictures = true, .interval = std::chrono::milliseconds(2)};
  of.speed = static_cast<double>(of.geometry().slice_ticks()) / 400'000;
  const auto outcome = expect_whole(of);
  expect_true(of, outcome);
  const double intervals = static_cast<double>(outcome.took_ns) / 2e6;
  EXPECT_GT(intervals, 10);
  const double bytes = static_cast<double>(outcome.picture.bytes_received()) / intervals;
  RecordProperty("bytes_per_interval", std::to_string(bytes));
  EXPECT_GT(bytes, 64 * sizeof(TelemetryHead));
  EXPECT_LT(bytes, 1e6);
  EXPECT_FALSE(outcome.picture.events().empty());
  EXPECT_LE(outcome.picture.events().size(), RunPicture::kMostEvents);
}

TEST_F(Telemetry, AStoppedRunReportsWhatItHasWritten) {
  for (const auto seed : Seeds(40)) {
    auto of = CaseMaker(seed).steady(60);
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    of.telemetry = {.counters = true, .pictures = true, .interval = std::chrono::milliseconds(1)};
    of.commands = {{0, 4'000'000, Command::stop}};
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.picture.totals()[Metric::hits_in], written(outcome)[Metric::hits_in]) << text_of(of);
  }
}

}  // namespace
}  // namespace eventloom::test
