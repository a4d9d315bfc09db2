#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <memory>

#include "engine_fixture.hpp"

namespace eventloom::test {

namespace {

using std::chrono::milliseconds;

/// Offsets of up to `most` ticks, also for whole sources, and masks and cuts.
DetectorPtr random_detector(CaseMaker& maker, const RunCase& of, std::uint64_t most, bool drops = true) {
  auto detector = std::make_shared<Detector>(of.roles.sources);
  const auto offset = [&] {
    return static_cast<std::int64_t>(maker.draw(0, 2 * most)) - static_cast<std::int64_t>(most);
  };
  for (std::uint16_t s = 0; s < of.roles.sources; ++s) {
    const auto of_source = maker.draw(0, 1) == 0 ? offset() : 0;
    detector->change({s}, [&](ChannelInfo& info) { info.offset = of_source; });
    for (auto n = maker.draw(0, 4); n > 0; --n) {
      const auto low = static_cast<std::uint32_t>(maker.draw(0, 999));
      const auto high = static_cast<std::uint32_t>(maker.draw(low, 999));
      const bool masked = drops && maker.draw(0, 5) == 0;
      const bool cut = drops && maker.draw(0, 5) == 0;
      const auto of_channels = offset();
      detector->change({s, low, high}, [&](ChannelInfo& info) {
        info.offset = of_channels;
        info.masked = masked;
        info.cut = cut;
      });
    }
  }
  return detector;
}

/// A reach from a few ticks to several slices.
std::uint64_t random_reach(CaseMaker& maker, const RunCase& of) {
  const std::uint64_t slice = of.geometry().slice_ticks().value;
  return std::vector<std::uint64_t>{5, of.base.epoch_ticks, slice, 7 * slice}[maker.draw(0, 3)];
}

void correct_some(CaseMaker& maker, RunCase& of) { of.detector = random_detector(maker, of, random_reach(maker, of)); }

class CorrectedRuns : public Engine {
 protected:
  static void expect_corrected_by(const std::string& schedule) {
    expect_whole(150, [&](CaseMaker& maker, RunCase& of) {
      of.schedule = schedule;
      correct_some(maker, of);
    });
  }
};

}  // namespace

TEST_F(CorrectedRuns, RoundRobin) { expect_corrected_by("round-robin"); }
TEST_F(CorrectedRuns, Chaotic) { expect_corrected_by("chaotic"); }
TEST_F(CorrectedRuns, BuildersClaimTheirSlices) { expect_corrected_by("balanced"); }

TEST_F(CorrectedRuns, Table) {
  expect_whole(60, [](CaseMaker& maker, RunCase& of) {
    maker.give_table(of);
    correct_some(maker, of);
  });
}

TEST_F(CorrectedRuns, SlotsOfSimulatedClocks) {
  expect_whole(30, [](CaseMaker& maker, RunCase& of) {
    of.slot_ns = 60'000;
    of.simulation.clock_spread_ns = 1'000'000;
    of.simulation.longest_delay_ns = 2'000;
    of.simulation.longest_step_ns = 20'000;
    correct_some(maker, of);
  });
}

TEST_F(CorrectedRuns, LeaveOutWhatIsFinished) {
  expect_whole(100, [](CaseMaker& maker, RunCase& of) {
    of.schedule = maker.draw(0, 1) == 0 ? "round-robin" : "balanced";
    correct_some(maker, of);
    for (std::uint64_t slice = 0; slice < 60; ++slice) {
      if (maker.draw(0, 2) == 0) of.finished.push_back({slice});
    }
  });
}

/// All hits of a channel at the same corrected time, from several slices.
TEST_F(CorrectedRuns, EqualTimesKeepTheOrderOfSourceAndPosition) {
  expect_whole(60, [](CaseMaker& maker, RunCase& of) {
    of.definition = "gap:0,2";
    auto detector = std::make_shared<Detector>(of.roles.sources);
    const Tick meet = 5 * of.geometry().slice_ticks();
    for (auto& stream : of.hits) {
      for (std::size_t i = 0; i < stream.size() && i < 1000; ++i) {
        stream[i].channel = static_cast<std::uint32_t>(i);
        if (maker.draw(0, 1) == 0) continue;
        const auto offset = static_cast<std::int64_t>(meet - stream[i].time + Tick(maker.draw(0, 2)));
        const auto channel = stream[i].channel;
        detector->change({stream[i].source, channel, channel}, [&](ChannelInfo& info) { info.offset = offset; });
      }
    }
    of.detector = detector;
  });
}

TEST_F(CorrectedRuns, AreStoppedAndResumed) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.schedule = maker.draw(0, 1) == 0 ? "chaotic" : "balanced";
    correct_some(maker, of);
    of.signal = SIGUSR1;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 3'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    expect_resumed(of, outcome);
  }
}

TEST_F(CorrectedRuns, LiveSourcesAreWaitedFor) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(15);
    of.epoch_timeout = milliseconds(2);
    correct_some(maker, of);
    maker.make_live(of, 20'000, 300'000);
    expect_whole(of);
  }
}

/// Every hit received is built, although the data end at an epoch as recorded, while slices are of corrected times.
TEST_F(CorrectedRuns, LiveRunEndsAfterAllDataReceived) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    of.epoch_timeout = milliseconds(5);
    of.detector = random_detector(maker, of, random_reach(maker, of), false);
    maker.make_live(of, 50'000, 20'000);
    of.signal = SIGINT;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(1'000'000, 4'000'000));
    expect_all_received(of, play(of), of.signal_after_ns);
  }
}

/// The slice in which the corrected times of a damaged buffer begin counts it once; events that may lack its hits are
/// flagged.
TEST_F(CorrectedRuns, DamagedBuffersAreCountedOnce) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(30);
    of.detector = random_detector(maker, of, random_reach(maker, of));
    of.damaged = 4;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.faults, std::vector<std::string>()) << text_of(of);
    std::uint64_t accounted = 0;
    for (const auto& [number, written] : outcome.slices) {
      EXPECT_TRUE(written.slice.ledger.balances()) << "slice " << number << ", " << text_of(of);
      accounted += written.slice.ledger.hits_in;
    }
    EXPECT_EQ(accounted, n_hits(of)) << text_of(of);
  }
}

}  // namespace eventloom::test
