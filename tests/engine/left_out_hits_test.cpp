#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

/// Hits left out by their times: a stretch of time, dead times of channels, copies of hits.
class LeftOutHits : public Engine {
 protected:
  static constexpr std::uint32_t kChannels = 4;

  /// Hits of a channel often follow one another closely, at `spacing` ticks on average.
  static RunCase crowded(CaseMaker& maker, std::uint64_t spacing) {
    RunCase of;
    of.epochs_per_slice = maker.draw(1, 7);
    const Tick end(maker.draw(10, 40) * 3 * of.base.epoch_ticks);
    for (auto n = maker.draw(1, 4); n > 0; --n) {
      const auto source = static_cast<std::uint16_t>(of.hits.size());
      auto& stream = of.hits.emplace_back();
      for (Tick time(maker.draw(0, 200)); time < end; time += Tick(maker.draw(0, 2 * spacing / kChannels)))
        stream.push_back({time, static_cast<std::uint32_t>(maker.draw(0, kChannels - 1)), {}, source});
    }
    constexpr std::array kDrawnDefinitions = {"gap:6,2",  "gap:6,2,4,15",       "multiplicity:10,4,1,2",
                                              "gap:30,3", "per-source gap:9,2", "coincidence:9,sources>=2||n_hits>=4",
                                              "gap:1,1"};
    of.definition = kDrawnDefinitions[maker.draw(0, kDrawnDefinitions.size() - 1)];
    of.overlap = Tick(maker.draw(30, 250));
    if (maker.draw(0, 1) == 0) of.further.push_back({"gap:2,2", Tick(maker.draw(2, 100))});
    if (maker.draw(0, 3) == 0) of.filter = {"n_hits>=3"};
    maker.give_payload(of);
    maker.choose_setup(of);
    return of;
  }

  /// At most three hits of a channel within a dead time on average, so that they pause now and then.
  static void set_dead_times(CaseMaker& maker, RunCase& of, std::uint64_t spacing) {
    auto detector = std::make_shared<Detector>(of.roles.sources);
    for (std::uint16_t s = 0; s < of.roles.sources; ++s) {
      for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
        const auto dead = std::vector<std::uint64_t>{0, 1, spacing / 4, spacing, 3 * spacing}[maker.draw(0, 4)];
        detector->change({s, channel, channel}, [&](ChannelInfo& info) { info.dead_time = Tick(dead); });
      }
    }
    of.detector = detector;
  }

  /// Random offsets, masks and cuts of some of the channels.
  static void correct_some(CaseMaker& maker, RunCase& of) {
    auto detector = std::make_shared<Detector>(*of.detector);
    for (std::uint16_t s = 0; s < of.roles.sources; ++s) {
      const auto first = static_cast<std::uint32_t>(maker.draw(0, kChannels - 1));
      const auto offset = static_cast<std::int64_t>(maker.draw(0, 1000)) - 400;
      const auto kind = maker.draw(0, 3);
      detector->change({s, first}, [&](ChannelInfo& info) {
        info.offset = offset;
        info.masked = kind == 1;
        info.cut = kind == 2;
        info.min_payload = 1e9;
        info.max_payload = 3e9;
      });
    }
    of.detector = detector;
  }

  /// Its ends lie anywhere, also at ends of slices and outside the data.
  static void choose_stretch(CaseMaker& maker, RunCase& of) {
    const auto tick = [&] {
      const Tick any(maker.draw(0, 13'000));
      const auto slice = of.geometry().slice_ticks();
      return maker.draw(0, 2) == 0 ? any / slice.value * slice.value : any;
    };
    const auto [begin, end] = std::minmax({tick(), tick()});
    of.stretch = {begin, end + 1};
    if (maker.draw(0, 3) == 0) of.stretch.begin = 0;
    if (maker.draw(0, 3) == 0) of.stretch.end = kAllTime.end;
  }

  static std::uint64_t dropped(const Outcome& outcome, DropCause cause) {
    std::uint64_t sum = 0;
    for (const auto& [number, written] : outcome.slices)
      sum += written.slice.ledger.hits_dropped[static_cast<std::size_t>(cause)];
    return sum;
  }
};

TEST_F(LeftOutHits, DeadTimesEqualASerialLoop) {
  std::uint64_t dead = 0;
  for (std::uint64_t seed = 1; seed <= cases(150) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    const auto spacing = maker.draw(4, 60);
    auto of = crowded(maker, spacing);
    set_dead_times(maker, of, spacing);
    dead += dropped(expect_whole(of), DropCause::dead_time);
  }
  EXPECT_GT(dead, cases(1000));
}

/// Masked and cut hits begin no dead time; offsets are applied first.
TEST_F(LeftOutHits, DeadTimesOfCorrectedHits) {
  for (std::uint64_t seed = 1; seed <= cases(150) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    const auto spacing = maker.draw(4, 60);
    auto of = crowded(maker, spacing);
    set_dead_times(maker, of, spacing);
    correct_some(maker, of);
    if (maker.draw(0, 1) == 0) choose_stretch(maker, of);
    expect_whole(of);
  }
}

TEST_F(LeftOutHits, StretchEqualsACutRecording) {
  std::uint64_t outside = 0;
  for (std::uint64_t seed = 1; seed <= cases(200) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    const auto spacing = maker.draw(4, 60);
    auto of = crowded(maker, spacing);
    if (maker.draw(0, 1) == 0) set_dead_times(maker, of, spacing);
    choose_stretch(maker, of);
    outside += dropped(expect_whole(of), DropCause::outside_stretch);
  }
  EXPECT_GT(outside, cases(1000));
}

/// Copies follow the first hit at once or after later ones. They are counted in the slice of their time.
TEST_F(LeftOutHits, CopiesAreLeftOut) {
  std::uint64_t copies = 0;
  for (std::uint64_t seed = 1; seed <= cases(150) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = crowded(maker, maker.draw(4, 60));
    of.as_files = true;
    of.unique = maker.draw(0, 4) != 0;
    if (maker.draw(0, 2) == 0) of.further.push_back({"tag", 0});
    if (maker.draw(0, 2) == 0) choose_stretch(maker, of);
    for (auto& stream : of.hits) {
      for (auto n = stream.empty() ? 0 : stream.size() / 4; n > 0; --n) {
        const auto from = maker.draw(0, stream.size() - 1);
        const auto to = std::min<std::uint64_t>(from + maker.draw(0, 30), stream.size());
        auto copy = stream[from];
        if (maker.draw(0, 3) == 0) copy.channel = (copy.channel + 1) % kChannels;
        stream.insert(stream.begin() + static_cast<std::ptrdiff_t>(to), copy);
      }
    }
    copies += dropped(expect_whole(of), DropCause::copy);
  }
  EXPECT_GT(copies, cases(1000));
}

/// The beginnings of its dead times cannot be determined: they restart every 50, as core/dataflow/dead_time.hpp states,
/// and the result is the same for all slices.
TEST_F(LeftOutHits, PulserFasterThanItsDeadTimeRestarts) {
  std::vector<RefHit> pulses;
  std::vector<Tick> kept;
  std::uint64_t ready = 0;
  for (std::uint64_t time = 0; time < 30'000; time += 10) {
    pulses.push_back({Tick(time), 7, {}, 0});
    if (time / 1250 != (time - 10) / 1250) ready = time / 1250 * 1250;
    if (time < ready) continue;
    kept.emplace_back(time);
    ready = time + 25;
  }
  auto detector = std::make_shared<Detector>(1);
  detector->change({0}, [](ChannelInfo& info) { info.dead_time = 25; });
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RunCase of;
    of.hits = {pulses};
    of.definition = "gap:1,1";
    of.epochs_per_slice = std::array{1, 3, 7, 100}[seed % 4];
    of.detector = detector;
    CaseMaker(seed).choose_setup(of);
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of));
    std::vector<Tick> found;
    for (const auto& [number, written] : outcome.slices)
      found.insert(found.end(), written.slice.hits.time.begin(), written.slice.hits.time.end());
    EXPECT_EQ(found, kept) << text_of(of);
    EXPECT_EQ(dropped(outcome, DropCause::dead_time), pulses.size() - kept.size()) << text_of(of);
  }
}

TEST_F(LeftOutHits, AreThoseOfAResumedRunToo) {
  for (std::uint64_t seed = 1; seed <= cases(60) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    const auto spacing = maker.draw(10, 60);
    auto of = crowded(maker, spacing);
    of.slot_ns = 0;
    if (of.schedule.starts_with("table:")) of.schedule = "chaotic";
    set_dead_times(maker, of, spacing);
    choose_stretch(maker, of);
    of.signal = SIGUSR1;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 3'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    expect_resumed(of, outcome);
  }
}

}  // namespace
}  // namespace eventloom::test
