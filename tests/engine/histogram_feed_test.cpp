#include "core/monitor/histogram_feed.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "core/dataflow/event_histograms.hpp"
#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

/// Compares rank 0's histograms of whole runs with one that is filled from the output.
class HistogramsOfRuns : public Engine {
 protected:
  /// The first histogram and the last fit in a message; the one between them does not.
  static std::shared_ptr<HistogramSet> histograms(const RunCase& of) {
    auto set = std::make_shared<HistogramSet>(of.detector);
    for (const char* text : {"size=n_hits:0..30/30", "when=time:0..1ms/300000", "rate=channel:0..1000/1000@hits"})
      set->add(text, of.base.tick_ps);
    set->set_streams(std::vector<std::uint32_t>(of.roles.sources), false);
    return set;
  }
  static RunCase looking(RunCase of, std::vector<std::size_t> looked_at) {
    of.telemetry = {.counters = true, .pictures = true};
    of.histograms = histograms(of);
    of.looked_at = std::move(looked_at);
    return of;
  }
  static std::vector<std::uint64_t> written(const RunCase& of, const Outcome& outcome, std::size_t histogram) {
    std::vector<std::uint64_t> cells(of.histograms->cells());
    EventHistograms counting(of.histograms);
    for (const auto& [number, slice] : outcome.slices) counting.add(slice.slice, cells);
    const auto found = of.histograms->cells_of(histogram, cells);
    return {found.begin(), found.end()};
  }
  static void expect_complete(const RunCase& of, const Outcome& outcome) {
    ASSERT_EQ(outcome.cells.size(), 3U);
    for (const auto i : of.looked_at) EXPECT_EQ(outcome.cells[i], written(of, outcome, i)) << i << "; " << text_of(of);
  }
};

TEST_F(HistogramsOfRuns, AreCompleteAtTheEnd) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = looking(maker.any(), {0, 1, 2});
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    expect_complete(of, expect_whole(of));
  }
}

TEST_F(HistogramsOfRuns, OnlyThoseLookedAtAreSent) {
  for (const auto seed : Seeds(10)) {
    const auto of = looking(CaseMaker(seed).steady(40), {2});
    const auto outcome = expect_whole(of);
    expect_complete(of, outcome);
    EXPECT_TRUE(outcome.cells[0].empty() && outcome.cells[1].empty()) << text_of(of);
    const auto none = looking(of, {});
    EXPECT_LE(expect_whole(none).cells_bytes, sizeof(CellsHead) * static_cast<std::size_t>(of.roles.ranks));
  }
}

TEST_F(HistogramsOfRuns, AreCompleteInARunThatIsStopped) {
  for (const auto seed : Seeds(20)) {
    auto of = looking(CaseMaker(seed).steady(60), {0, 1, 2});
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    of.commands = {{0, 4'000'000, Command::stop}};
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    expect_complete(of, outcome);
  }
}

/// What was built before the pause is no longer counted, also if it was on its way to rank 0.
TEST_F(HistogramsOfRuns, BeginAgainFromZero) {
  for (const auto seed : Seeds(20)) {
    auto of = looking(CaseMaker(seed).steady(60), {0, 1, 2});
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    constexpr std::int64_t kReset = 30'000'000;
    of.commands = {{0, 4'000'000, Command::pause}, {0, kReset, Command::reset}, {0, 40'000'000, Command::resume}};
    const auto outcome = expect_whole(of);
    auto after = outcome;
    std::erase_if(after.slices, [&](const auto& slice) { return slice.second.at_ns < kReset; });
    EXPECT_LT(after.slices.size(), outcome.slices.size()) << text_of(of);
    expect_complete(of, after);
  }
}

/// A reset in the middle: each slice counts as a whole or not at all, the later ones do.
TEST_F(HistogramsOfRuns, AResetDuringTheRunLosesNothingAfterIt) {
  for (const auto seed : Seeds(20)) {
    auto of = looking(CaseMaker(seed).steady(60), {0, 1, 2});
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    constexpr std::int64_t kReset = 5'000'000;
    of.commands = {{0, kReset, Command::reset}};
    const auto outcome = expect_whole(of);
    auto at_most = outcome;
    std::erase_if(at_most.slices, [&](const auto& slice) { return slice.second.at_ns < kReset; });
    auto at_least = outcome;
    std::erase_if(at_least.slices, [&](const auto& slice) { return slice.second.at_ns < kReset + 5'000'000; });
    for (const auto i : of.looked_at) {
      const auto most = written(of, at_most, i);
      const auto least = written(of, at_least, i);
      for (std::size_t cell = 0; cell < most.size(); ++cell) {
        ASSERT_TRUE(least[cell] <= outcome.cells[i][cell] && outcome.cells[i][cell] <= most[cell])
            << i << ", cell " << cell << "; " << text_of(of);
      }
    }
  }
}

/// With 64 ranks, the messages in flight at a time are bounded and do not delay the run.
TEST_F(HistogramsOfRuns, ManyRanks) {
  auto of = looking(CaseMaker(5).steady(60), {0, 1, 2});
  of.roles = {.sources = 2, .builders = 70, .filters = 0, .ranks = 72};
  of.simulation.ranks = 72;
  of.hits.resize(2);
  of.hits[1] = of.hits[0];
  for (auto& hit : of.hits[1]) hit.source = 1;
  of.histograms = histograms(of);
  expect_complete(of, expect_whole(of));
}

}  // namespace
}  // namespace eventloom::test
