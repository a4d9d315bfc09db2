#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

using Times = std::vector<std::uint64_t>;

Times steps(std::uint64_t from, std::uint64_t to, std::uint64_t step) {
  Times times;
  for (auto time = from; time < to; time += step) times.push_back(time);
  return times;
}

Times joined(Times first, const Times& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

constexpr std::uint64_t kWrap = (std::uint64_t{1} << 28) * 100;

/// The times of each source. Epochs of 100 ticks end at 100, 200, ...
const std::map<std::string, std::vector<Times>>& inputs() {
  static const std::map<std::string, std::vector<Times>> all = {
      {"OnSliceEdges", {{0, 99, 100, 101, 199, 200, 300, 399, 400}, {100, 200, 299, 300, 499, 500}}},
      {"AcrossSliceEdges", {{90, 95, 100, 105, 195, 200}, {98, 102, 202, 205, 299}, {301}}},
      {"EqualTimes", {{50, 50, 100, 100, 200}, {50, 100, 100, 200, 200}, {50, 100, 200}}},
      {"EmptyEpochs", {{5, 6, 100'005, 100'006}, {7, 50'000, 50'001}}},
      {"EmptySource", {{5, 6, 205}, {}, {7, 206}}},
      {"OneHit", {{}, {123}}},
      {"OneSourceOneHit", {{0}}},
      {"NoHit", {{}, {}}},
      {"EarlyEnd", {steps(3, 1000, 7), {3, 4, 5}, steps(900, 950, 2)}},
      {"LateStart", {steps(70'000, 71'000, 7), steps(70'900, 73'000, 11)}},
      // Epoch numbers have 28 bits on the wire: the run passes the end of that range.
      {"EpochNumberWraps",
       {{kWrap - 150, kWrap - 101, kWrap - 100, kWrap - 1, kWrap, kWrap + 1, kWrap + 99, kWrap + 100, kWrap + 101},
        {kWrap - 99, kWrap, kWrap, kWrap + 2, kWrap + 150}}},
      {"ALittleOutOfOrder", {{105, 99, 101, 100, 98, 205, 199, 201}, {100, 96, 203, 200}}},
      // As long as the overlap, and a tick longer: which slices see that depends on the last tick of their margins.
      {"ChainAsLongAsTheOverlap", {steps(100, 201, 1)}},
      {"ChainATickLonger", {steps(99, 201, 1)}},
      // Longer than the overlap, wherever slices end.
      {"LongChains",
       {joined(joined(steps(40, 1000, 5), steps(1200, 1303, 5)), {1500}),
        joined(steps(42, 1000, 5), steps(1702, 1800, 3))}},
  };
  return all;
}

/// Ranks, builders, filters, schedule, threads, epochs per slice, ring.
struct Setup {
  int ranks;
  std::uint32_t builders;
  std::uint32_t filters;
  std::string schedule;
  std::size_t threads;
  std::uint64_t epochs_per_slice;
  RingGeometry ring;
};

const std::map<std::string, Setup>& setups() {
  static const std::map<std::string, Setup> all = {
      {"Alone", {1, 1, 0, "round-robin", 1, 1, {8, 1024}}},
      {"ThreeBuilders", {3, 3, 0, "round-robin", 1, 1, {1, 192}}},
      {"Chaotic", {2, 2, 0, "chaotic", 1, 3, {2, 256}}},
      {"FiltersAndLongSlices", {5, 2, 2, "round-robin", 1, 1000, {4, 4096}}},
      {"ManyThreads", {1, 1, 1, "balanced", 3, 2, {8, 512}}},
      {"BuildersClaim", {6, 4, 0, "balanced", 1, 1, {2, 192}}},
      {"MoreFiltersThanBuilders", {2, 1, 3, "unshifted", 1, 2, {3, 320}}},
      {"Table", {4, 2, 1, "table", 2, 10, {2, 192}}},
      {"SixteenRanks", {16, 4, 3, "round-robin", 1, 1, {4, 256}}},
  };
  return all;
}

RunCase in_setup(const Setup& setup, const std::vector<Times>& times) {
  RunCase of;
  of.simulation.far = setup.builders % 2 == 0;
  of.roles = {static_cast<std::uint32_t>(times.size()), setup.builders, setup.filters, setup.ranks};
  of.simulation.ranks = setup.ranks;
  of.threads = setup.threads;
  of.epochs_per_slice = setup.epochs_per_slice;
  of.ring = setup.ring;
  of.overlap = Tick(of.base.epoch_ticks);
  of.as_files = true;
  auto first = std::numeric_limits<Tick>::max();
  for (std::uint16_t s = 0; s < times.size(); ++s) {
    auto& stream = of.hits.emplace_back();
    for (const Tick time : std::vector<Tick>(times[s].begin(), times[s].end())) {
      stream.push_back({time, static_cast<std::uint32_t>(stream.size()), {}, s});
      first = std::min(first, time);
    }
  }
  if (first != std::numeric_limits<Tick>::max())
    of.first_slice = of.geometry().slice_of(epoch_of(first, of.base.epoch_ticks));
  if (setup.schedule == "table") {
    CaseMaker(7).give_table(of);
  } else {
    of.schedule = setup.schedule;
  }
  return of;
}

/// Small inputs made by hand, at the edges of slices, epochs and sources.
class Edges : public Engine, public testing::WithParamInterface<std::tuple<std::string, std::string>> {
 protected:
  static RunCase of_parameters() {
    return in_setup(setups().at(std::get<1>(GetParam())), inputs().at(std::get<0>(GetParam())));
  }
};

/// The reach of some definitions is as long as the overlap, and as an epoch.
constexpr std::array kDefinitions = {"gap:5,2",
                                     "gap:1,1",
                                     "gap:5,22",
                                     "gap:5,40",
                                     "gap:5,120",
                                     "gap:100,2",
                                     "gap:5,2,3,95",
                                     "multiplicity:10,2,0,0",
                                     "multiplicity:10,2,1,2",
                                     "multiplicity:10,2,1,1",
                                     "multiplicity:7,3,3,0",
                                     "coincidence:5,sources>=2",
                                     "coincidence:4,n_hits>=2&&!(sources>=3),1,90",
                                     "trigger:channel:3-5>=1,20,60",
                                     "fixed:70",
                                     "cluster:5,30,2",
                                     "cluster:5,300,40",
                                     "per-source gap:5,2",
                                     "per-source gap:7,25",
                                     "tag"};

TEST_P(Edges, AreThoseOfTheReference) {
  auto of = of_parameters();
  for (const auto* definition : kDefinitions) {
    of.definition = definition;
    expect_whole(of);
  }
}

/// All at once, with all overlaps around the length of an epoch.
TEST_P(Edges, OfSeveralDefinitions) {
  auto of = of_parameters();
  of.filter = {"n_hits>=2||duration<1"};
  std::uint64_t overlap = 94;
  for (const auto* definition : kDefinitions)
    of.further.push_back({definition, Tick(std::max(++overlap, std::uint64_t{98}))});
  expect_whole(of);
}

/// Hits at the first tick of a stretch belong to it, those at its end do not.
TEST_P(Edges, OfStretches) {
  auto of = of_parameters();
  const Tick begin = tick_of_epoch(of.geometry().owned_epochs(of.first_slice).begin, of.base.epoch_ticks);
  for (const TickRange stretch : {TickRange{99, 200}, {100, 201}, {5, 6}, {50, 100}, {101, 301}}) {
    of.stretch = {begin + stretch.begin, begin + stretch.end};
    expect_whole(of);
    of.stretch = {begin + stretch.begin, kAllTime.end};
    expect_whole(of);
  }
}

/// Dead times that end at hits, and just after them.
TEST_P(Edges, OfDeadTimes) {
  auto of = of_parameters();
  for (auto& stream : of.hits) {
    for (auto& hit : stream) hit.channel %= 2;
  }
  for (const std::uint64_t dead : {1, 5, 6, 99, 100, 101}) {
    auto detector = std::make_shared<Detector>(of.roles.sources);
    for (std::uint16_t s = 0; s < of.roles.sources; ++s) {
      detector->change({s}, [&](ChannelInfo& info) { info.dead_time = Tick(dead); });
    }
    of.detector = detector;
    expect_whole(of);
  }
}

std::vector<std::string> names_of(const auto& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Engine, Edges,
                         testing::Combine(testing::ValuesIn(names_of(inputs())), testing::ValuesIn(names_of(setups()))),
                         [](const auto& named) { return std::get<0>(named.param) + "In" + std::get<1>(named.param); });

using EdgesAlone = Engine;

TEST_F(EdgesAlone, AsLongAsTheOverlapIsNotLonger) {
  for (const std::uint64_t overlap : {99, 100, 101}) {
    for (const auto& [name, setup] : setups()) {
      auto of = in_setup(setup, {steps(50, 151, 10)});
      of.definition = "gap:10,2";
      of.overlap = Tick(overlap);
      const auto outcome = expect_whole(of);
      ASSERT_TRUE(outcome.slices.contains(0)) << name;
      EXPECT_EQ(outcome.slices.at(0).slice.events.flags, std::vector<std::uint32_t>{overlap < 100 ? kTruncated : 0U});
    }
  }
}

/// One slice is many times the ring.
TEST_F(EdgesAlone, SlicesLargerThanAllCells) {
  for (const auto& [name, setup] : setups()) {
    auto of = in_setup(setup, {steps(0, 20'000, 5), steps(1, 20'000, 4)});
    of.ring = {2, 192};
    of.definition = "gap:1,3";
    of.base.epoch_ticks = 20'000;
    of.epochs_per_slice = 1;
    expect_whole(of);
  }
}

}  // namespace
}  // namespace eventloom::test
