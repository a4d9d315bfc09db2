#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

/// The result is a function of the input and the definitions alone, however the run is done.
class Setups : public Engine {
 protected:
  static RunCase any_case(CaseMaker& maker) {
    auto of = maker.any();
    maker.vary(of);
    maker.choose_setup(of);
    return of;
  }
  /// By time and number of hits.
  static std::set<std::pair<Tick, std::uint32_t>> events_of(const Outcome& outcome) {
    std::set<std::pair<Tick, std::uint32_t>> events;
    for (const auto& [number, written] : outcome.slices) {
      const auto& columns = written.slice.events;
      for (std::size_t i = 0; i < columns.size(); ++i) events.emplace(columns.time[i], columns.n_hits[i]);
    }
    return events;
  }
};

TEST_F(Setups, AnyGivesTheResultOfTheReference) {
  for (std::uint64_t seed = 1; seed <= cases(1000) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    expect_whole(any_case(maker));
  }
}

/// One case in several set-ups.
TEST_F(Setups, AllGiveTheSameResult) {
  for (std::uint64_t seed = 1; seed <= cases(40) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = any_case(maker);
    for (std::uint64_t other = 1; other <= 8 && !HasFailure(); ++other) {
      CaseMaker(100 * seed + other).choose_setup(of);
      expect_whole(of);
    }
  }
}

TEST_F(Setups, SeveralDefinitionsHaveOverlapsOfTheirOwn) {
  for (std::uint64_t seed = 1; seed <= cases(150) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = any_case(maker);
    of.definition = "gap:6,2";
    of.overlap = Tick(maker.draw(6, 40));
    of.further = {{"gap:200,3", Tick(maker.draw(200, 4000))},
                  {"multiplicity:10,5,1,2", 40},
                  {"coincidence:5,sources>=2", Tick(maker.draw(5, 60))},
                  {"gap:3,3,10,30", Tick(maker.draw(60, 300))}};
    expect_whole(of);
  }
}

/// Events that lie within several slices, chains longer than the overlap, and overlaps as long as many slices.
TEST_F(Setups, LongEvents) {
  for (std::uint64_t seed = 1; seed <= cases(150) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = any_case(maker);
    of.epochs_per_slice = maker.draw(1, 3);
    of.first_slice = {};
    of.base.epoch_ticks = 100;
    for (auto& stream : of.hits) {
      stream.clear();
      const auto source = static_cast<std::uint16_t>(&stream - of.hits.data());
      for (Tick time(maker.draw(0, 200)); time < 4'000; time += Tick(maker.draw(0, maker.draw(0, 9) == 0 ? 300 : 12)))
        stream.push_back({time, static_cast<std::uint32_t>(maker.draw(0, 999)), {}, source});
    }
    of.payload.clear();
    maker.give_payload(of);
    constexpr std::array kLong = {"gap:12,20", "gap:12,2",         "gap:12,20,5,9",       "per-source gap:12,9",
                                  "fixed:12",  "cluster:12,60,20", "multiplicity:6,3,1,1"};
    of.definition = kLong[maker.draw(0, kLong.size() - 1)];
    of.overlap = Tick(maker.draw(12, maker.draw(0, 1) == 0 ? 900 : 60));
    expect_whole(of);
  }
}

/// A tenth of the events, complete, and the same ones in every set-up.
TEST_F(Setups, PrescaleKeepsTheSameEvents) {
  std::uint64_t all = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 1; seed <= cases(60) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    of.definition = "gap:20,1";
    of.overlap = 60;
    maker.choose_setup(of);
    const auto whole = events_of(expect_whole(of));
    of.filter = {"prescale=10"};
    const auto once = events_of(play(of));
    maker.choose_setup(of);
    of.epochs_per_slice = maker.draw(1, 9);
    const auto again = play(of);
    EXPECT_EQ(again.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(once, events_of(again)) << text_of(of);
    EXPECT_TRUE(std::ranges::includes(whole, once)) << text_of(of);
    all += whole.size();
    kept += once.size();
  }
  const auto n = static_cast<double>(all);
  EXPECT_GT(all, 1000U);
  EXPECT_LT(std::abs(static_cast<double>(kept) - n / 10), 5 * std::sqrt(n * 0.1 * 0.9)) << "of " << all;
}

}  // namespace
}  // namespace eventloom::test
