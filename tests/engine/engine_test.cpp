#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <utility>

#include "core/runtime/setting.hpp"
#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

using std::chrono::milliseconds;

TEST_F(Engine, RoundRobin) { expect_whole_by("round-robin"); }
TEST_F(Engine, Chaotic) { expect_whole_by("chaotic"); }
TEST_F(Engine, Unshifted) { expect_whole_by("unshifted"); }
TEST_F(Engine, BuildersClaimTheirSlices) { expect_whole_by("balanced"); }

TEST_F(Engine, Table) {
  expect_whole(100, [](CaseMaker& maker, RunCase& of) { maker.give_table(of); });
}

TEST_F(Engine, BackPressureOfTheSmallestRings) {
  expect_whole(150, [](CaseMaker& maker, RunCase& of) {
    of.ring = {1, 192};
    of.slices_in_flight = 1;
    of.schedule = maker.draw(0, 1) == 0 ? "round-robin" : "balanced";
  });
}

TEST_F(Engine, OverlapOfManySlices) {
  expect_whole(150, [](CaseMaker& maker, RunCase& of) {
    of.epochs_per_slice = 1;
    of.overlap = Tick(maker.draw(200, 1200));
    of.definition = "gap:30,2";
  });
}

TEST_F(Engine, FilterAfterEveryBuilder) {
  expect_whole(200, [](CaseMaker& maker, RunCase& of) {
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(1, 4));
    of.schedule = maker.draw(0, 1) == 0 ? "chaotic" : "balanced";
  });
}

/// Sources have data in few slices, just before the end or just after the beginning: data after a gap belong to an
/// event of the previous slice.
TEST_F(Engine, EventsAcrossTheEndsOfGaps) {
  expect_whole(100, [](CaseMaker& maker, RunCase& of) {
    of.definition = "gap:20,2";
    of.overlap = 60;
    for (std::size_t s = 0; s < of.hits.size(); ++s) {
      of.hits[s].clear();
      for (Tick begin = of.geometry().slice_ticks(); begin < 5'000; begin += of.geometry().slice_ticks()) {
        if (maker.draw(0, 2) != 0) continue;
        const auto time = s % 2 == 0 ? begin - Tick(maker.draw(1, 9)) : begin + Tick(maker.draw(0, 9));
        of.hits[s].push_back({time, 1, {}, static_cast<std::uint16_t>(s)});
      }
    }
  });
}

TEST_F(Engine, BeginsAtAnySlice) {
  expect_whole(100, [](CaseMaker& maker, RunCase& of) { of.first_slice = {maker.draw(0, 20)}; });
}

TEST_F(Engine, LeavesOutWhatIsFinished) {
  expect_whole(200, [](CaseMaker& maker, RunCase& of) {
    of.schedule = maker.draw(0, 1) == 0 ? "round-robin" : "balanced";
    for (std::uint64_t slice = 0; slice < 60; ++slice) {
      if (maker.draw(0, 2) == 0) of.finished.push_back({slice});
    }
  });
}

TEST_F(Engine, ManyRanks) {
  expect_whole(4, [](CaseMaker& maker, RunCase& of) {
    of.roles.sources = 32;
    of.roles.builders = 24;
    of.roles.filters = 8;
    of.roles.ranks = of.simulation.ranks = 64;
    of.schedule = maker.draw(0, 1) == 0 ? "round-robin" : "balanced";
    auto more = of.hits;
    while (of.hits.size() < of.roles.sources) of.hits.push_back(more[of.hits.size() % more.size()]);
    of.hits.resize(of.roles.sources);
    for (std::size_t s = 0; s < of.hits.size(); ++s) {
      for (auto& hit : of.hits[s]) hit.source = static_cast<std::uint16_t>(s);
    }
  });
}

TEST_F(Engine, SlotsOfSimulatedClocks) {
  expect_whole(40, [](CaseMaker&, RunCase& of) {
    of.slot_ns = 60'000;
    of.simulation.clock_spread_ns = 1'000'000;
    of.simulation.longest_delay_ns = 2'000;
    of.simulation.longest_step_ns = 20'000;
  });
}

/// Slices of 0.2 ms: none is sent before its end has been "recorded".
TEST_F(Engine, SpeedKeepsSlicesBackUntilTheirTime) {
  expect_whole(60, [](CaseMaker&, RunCase& of) { of.speed = 1; });
  for (const auto seed : Seeds(60)) {
    auto of = CaseMaker(seed).steady(20);
    const auto slice_ns = static_cast<double>(of.geometry().slice_ticks());
    of.speed = slice_ns / 200'000;
    of.simulation.longest_step_ns = 50'000;
    const auto outcome = expect_whole(of);
    for (const auto& [slice, time] : outcome.sent_at) {
      EXPECT_GE(time, static_cast<std::int64_t>(slice + 1) * 200'000 - 1) << "slice " << slice << ", " << text_of(of);
    }
    EXPECT_LT(outcome.took_ns, 20 * 200'000 + 10'000'000) << text_of(of);
  }
}

TEST_F(Engine, DurationEndsAtTheSameSliceEverywhere) {
  for (const auto seed : Seeds(40)) {
    auto of = CaseMaker(seed).steady(150);
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    of.duration = milliseconds(12);
    of.simulation.longest_step_ns = 100'000;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.stopped_by, "the end of " + name_of(Setting::duration)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    EXPECT_TRUE(outcome.cut_off) << text_of(of);
    EXPECT_GE(outcome.slices.size(), 57U) << text_of(of);  // 60 were due, if no turn was late
    EXPECT_LT(outcome.slices.size(), 90U) << text_of(of);
    expect_resumed(of, outcome);
  }
}

TEST_F(Engine, SignalStopsInGoodOrder) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.schedule = maker.draw(0, 1) == 0 ? "chaotic" : "balanced";
    of.signal = SIGUSR1;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 3'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    expect_resumed(of, outcome);
  }
}

TEST_F(Engine, SinkThatIsFullStopsInGoodOrder) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    maker.choose_schedule(of);
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    of.sink_fails_after = maker.draw(1, 8);
    of.sink_stops = true;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.stopped_by, "a full or failing disk") << text_of(of);
    EXPECT_TRUE(outcome.cut_off) << text_of(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_LT(outcome.slices.size(), expected_slices(of).size()) << text_of(of);
    expect_resumed(of, outcome);
  }
}

void expect_all_meet(const std::string& error, const Change& change) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    maker.choose_schedule(of);
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    change(maker, of);
    const std::vector<std::string> everywhere(static_cast<std::size_t>(of.roles.ranks), error);
    EXPECT_EQ(play(of).errors, everywhere) << text_of(of);
  }
}

TEST_F(Engine, SinkThatFailsEndsAllWithItsError) {
  expect_all_meet("the disk is full", [](CaseMaker& maker, RunCase& of) { of.sink_fails_after = maker.draw(1, 8); });
}

TEST_F(Engine, SourceThatFailsEndsAllWithItsError) {
  expect_all_meet("the input is broken",
                  [](CaseMaker& maker, RunCase& of) { of.source_fails_after = maker.draw(1, 30); });
}

/// The slice that owns a dropped hit counts it once.
TEST_F(Engine, DamagedBuffersAreCountedInTheirSlices) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(30);
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    of.damaged = 4;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.faults, std::vector<std::string>()) << text_of(of);
    std::uint64_t accounted = 0;
    for (const auto& [number, written] : outcome.slices) {
      std::uint64_t lost = 0;
      for (const auto& loss : written.slice.losses) lost += loss.n_hits;
      EXPECT_EQ(lost, written.slice.ledger.dropped()) << "slice " << number << ", " << text_of(of);
      EXPECT_TRUE(written.slice.ledger.balances()) << "slice " << number << ", " << text_of(of);
      accounted += written.slice.ledger.hits_in;
    }
    EXPECT_EQ(accounted, n_hits(of)) << text_of(of);
  }
}

/// Each definition has the events, flags and losses of a run with it alone.
TEST_F(Engine, DamagedBuffersAreLossesOfEachDefinition) {
  for (std::uint64_t seed = 1; seed <= cases(60) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = maker.steady(30);
    maker.give_payload(of);
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    of.damaged = 4;
    of.epochs_per_buffer = 1;
    of.further = {
        {"gap:6,2", Tick(maker.draw(6, 90))}, {"multiplicity:10,2,1,2", 50}, {"coincidence:5,sources>=2", 30}};
    const auto together = play(of);
    EXPECT_EQ(together.errors, no_errors(of)) << text_of(of);
    for (std::size_t i = 0; i < of.further.size(); ++i) {
      RunCase alone = of;
      alone.definition = of.further[i].definition;
      alone.overlap = of.further[i].overlap;
      alone.further.clear();
      const auto outcome = play(alone);
      EXPECT_EQ(together.further[i].size(), outcome.slices.size()) << text_of(alone);
      for (const auto& [number, written] : outcome.slices) {
        EXPECT_GT(together.further[i].count(number), 0U) << text_of(alone);
        if (HasFailure()) break;
        const auto& found = together.further[i].at(number);
        EXPECT_EQ(difference_of_contents(found, written.slice), "") << "slice " << number << ", " << text_of(alone);
        EXPECT_EQ(found.sources_missing, written.slice.sources_missing) << text_of(alone);
        EXPECT_EQ(found.events.sources_missing, written.slice.events.sources_missing) << text_of(alone);
      }
    }
  }
}

/// After a recording has broken off, all slices and events lack its source.
TEST_F(Engine, RecordingThatBreaksOffIsMissingFromThenOn) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(30);
    of.roles.sources = 3;
    of.hits.resize(3, of.hits.front());
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    const auto geometry = of.geometry();
    const Epoch break_at = geometry.owned_epochs({maker.draw(5, 25)}).begin;
    std::erase_if(of.hits.front(),
                  [&](const RefHit& h) { return h.time >= tick_of_epoch(break_at, of.base.epoch_ticks); });
    of.breaks_off = true;
    of.epochs_per_buffer = 1;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.faults, std::vector<std::string>()) << text_of(of);
    // Slices that still receive its last data report the damage with them, which this recording does not.
    const Epoch last = epoch_of(of.hits.front().back().time, of.base.epoch_ticks);
    const auto last_sent = geometry.slice_of(last + geometry.margin_epochs()).value;
    for (const auto& [number, written] : outcome.slices) {
      EXPECT_EQ(!written.slice.sources_missing.empty(), number > last_sent)
          << "slice " << number << ", " << text_of(of);
    }
    EXPECT_GE(outcome.slices.size(), expected_slices(of).size()) << text_of(of);
  }
}

/// Sources have different paces and ends: the run waits for all data.
TEST_F(Engine, LiveSourcesAreWaitedForWhileTheyMakeProgress) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(15);
    of.epoch_timeout = milliseconds(2);
    maker.make_live(of, 20'000, 300'000);
    expect_whole(of);
  }
}

/// A source whose memory is full hears its peer again once the builders have used the data. What does not fit into one
/// slice is dropped, and counted.
TEST_F(Engine, LiveSourcesWithLittleMemory) {
  std::uint64_t dropped = 0;
  for (const auto seed : Seeds(400)) {
    CaseMaker maker(seed);
    auto of = maker.steady(15);
    maker.make_live(of, 20'000, 300'000);
    of.live_buffer = maker.draw(1, 40) << 9;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    std::uint64_t in = 0;
    for (const auto& [number, written] : outcome.slices) {
      const auto& ledger = written.slice.ledger;
      in += ledger.hits_in;
      dropped += ledger.dropped();
      EXPECT_EQ(ledger.dropped(), ledger.hits_dropped[static_cast<std::size_t>(DropCause::congested)]) << text_of(of);
    }
    std::uint64_t sent = 0;
    for (const auto& hits : of.hits) sent += hits.size();
    EXPECT_EQ(in, sent) << text_of(of);
  }
  if (is_replay()) return;
  EXPECT_GT(dropped, 0U);
}

TEST_F(Engine, LiveSourcesBesideRecordings) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(15);
    maker.make_live(of, 20'000, 100'000);
    of.arrivals.front().clear();
    expect_whole(of);
  }
}

TEST_F(Engine, LiveRunEndsAfterAllDataReceived) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    of.epoch_timeout = milliseconds(5);
    maker.make_live(of, 50'000, 20'000);
    of.signal = SIGINT;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(1'000'000, 4'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.stopped_by, "SIGINT") << text_of(of);
    expect_all_received(of, outcome, of.signal_after_ns);
  }
}

/// Sources have sent the margins after the slices that they have begun: hits that lie in these margins and in events of
/// the last slice begun are built in their own slice, too.
TEST_F(Engine, LiveRunBesideARecordingEndsBehindTheMarginsThatWereSent) {
  std::uint64_t beyond = 0;
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    while (of.hits.size() < 2) of = maker.steady(40);
    maker.make_live(of, 50'000, 20'000);
    of.arrivals.front().clear();
    of.signal = SIGINT;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 4'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    const auto geometry = of.geometry();
    for (const auto& [number, written] : outcome.slices) {
      for (const auto time : written.slice.hits.time) {
        const auto own = geometry.slice_of(epoch_of(time, of.base.epoch_ticks)).value;
        beyond += own > number ? 1 : 0;
        EXPECT_TRUE(outcome.slices.contains(own)) << "slice " << own << ", " << text_of(of);
      }
    }
  }
  if (is_replay()) return;
  EXPECT_GT(beyond, cases(100));
}

/// A run of live sources, the last of which is silent for 9 ms, with a timeout of 2 ms.
struct SilentSource {
  static constexpr std::int64_t kPace = 50'000;
  static constexpr std::int64_t kTimeout = 2'000'000;

  explicit SilentSource(CaseMaker& maker) : of(maker.steady(120)) {
    while (of.hits.size() < 2) of = maker.steady(120);
    of.epoch_timeout = std::chrono::nanoseconds(kTimeout);
    maker.make_live(of, kPace, 0);
    auto& silent = of.arrivals.back();
    const auto from = maker.draw(10, 30);
    until = silent[from].time_ns + 9'000'000;
    begin = silent[from].buffer.header.first_epoch;
    for (auto i = from; i < silent.size(); ++i) silent[i].time_ns = std::max(silent[i].time_ns, until);
  }
  /// The largest delay of its data of these epochs with respect to the other sources.
  [[nodiscard]] std::int64_t lateness(EpochRange epochs) const {
    if (epochs.end <= begin) return 0;
    return until - static_cast<std::int64_t>(std::max(epochs.begin, begin) + 1) * kPace;
  }
  /// When the timeout after the others passed its first missing epoch has elapsed.
  [[nodiscard]] std::int64_t given_up_after() const { return static_cast<std::int64_t>(begin + 1) * kPace + kTimeout; }

  RunCase of;
  std::int64_t until = 0;  ///< when its silence ends
  Epoch begin = 0;         ///< first epoch of the data that come then
};

bool lacks_data(const BuiltSlice& slice) {
  const auto incomplete = [](std::uint32_t flags) { return (flags & kIncomplete) != 0; };
  return !slice.sources_missing.empty() || std::ranges::any_of(slice.events.flags, incomplete);
}

/// Slices that lack data, and those that share their margins.
std::set<std::uint64_t> touched_by_a_lack(const RunCase& of, const Outcome& outcome) {
  const auto geometry = of.geometry();
  const auto near = geometry.slice_of(geometry.margin_epochs()).value + 1;
  std::set<std::uint64_t> touched;
  for (const auto& [number, written] : outcome.slices) {
    if (!lacks_data(written.slice)) continue;
    for (auto n = number - std::min(number, near); n <= number + near; ++n) touched.insert(n);
  }
  return touched;
}

/// All other slices are as in the serial reference.
std::string difference_elsewhere(RunCase of, Outcome outcome, const std::set<std::uint64_t>& touched) {
  for (const auto number : touched) of.finished.push_back({number});
  std::erase_if(outcome.slices, [&](const auto& entry) { return touched.contains(entry.first); });
  return difference(of, outcome);
}

TEST_F(Engine, LiveSourceThatIsSilentIsGivenUpAndComesBack) {
  constexpr std::int64_t kTurn = 100'000;
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    const SilentSource silence(maker);
    const auto& of = silence.of;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(outcome.hits_read, n_hits(of)) << text_of(of);
    const auto touched = touched_by_a_lack(of, outcome);
    EXPECT_LT(touched.size() + 10, outcome.slices.size()) << text_of(of);
    EXPECT_EQ(difference_elsewhere(of, outcome, touched), "") << text_of(of);
    std::uint64_t accounted = 0;
    std::uint64_t late = 0;
    bool given_up = false;
    for (const auto& [number, written] : outcome.slices) {
      const auto& slice = written.slice;
      const auto in_slice = "slice " + std::to_string(number) + ", " + text_of(of);
      EXPECT_TRUE(slice.ledger.balances()) << in_slice;
      accounted += slice.ledger.hits_in;
      late += slice.ledger.hits_dropped[static_cast<std::size_t>(DropCause::late)];
      if (slice.sources_missing.empty()) continue;
      EXPECT_EQ(slice.sources_missing, std::vector<std::uint32_t>{of.roles.sources - 1}) << in_slice;
      // Once it is given up, no data of it are waited for until its rank takes a turn.
      const auto lateness = silence.lateness(of.geometry().owned_epochs({number}));
      EXPECT_GT(lateness, std::exchange(given_up, true) ? -kTurn : SilentSource::kTimeout) << in_slice;
      EXPECT_GE(written.at_ns, silence.given_up_after()) << in_slice;
    }
    EXPECT_EQ(accounted, n_hits(of)) << text_of(of);
    EXPECT_GT(late, 0U) << text_of(of);
    EXPECT_FALSE(lacks_data(outcome.slices.rbegin()->second.slice)) << "it is back; " << text_of(of);
  }
}

TEST_F(Engine, TheSameSeedPlaysTheSameCase) {
  const auto of = CaseMaker(7).any();
  const auto once = play(of);
  const auto again = play(of);
  EXPECT_EQ(once.took_ns, again.took_ns);
  EXPECT_EQ(once.sent_at, again.sent_at);
  EXPECT_EQ(once.built_on, again.built_on);
}

}  // namespace
}  // namespace eventloom::test
