#include "core/dataflow/slice_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <random>
#include <string_view>

#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "event_reference.hpp"
#include "reference_detector.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {

namespace {

constexpr std::uint64_t kManySliceLengths[] = {1, 3, 10, 1000};

/// A run with hits at given times, a list for each source; channels number the hits.
TestRun hand_made(std::string_view definition, const std::vector<std::vector<Tick>>& times, Tick overlap = 100) {
  TestRun run;
  run.definition = parse_event_definition(definition, 1000, reference_detector(times.size()));
  run.overlap = overlap;
  for (std::size_t s = 0; s < times.size(); ++s) {
    std::vector<RefHit> hits;
    for (const Tick t : times[s]) {
      hits.push_back({t, static_cast<std::uint32_t>(hits.size()), {}, static_cast<std::uint16_t>(s)});
    }
    run.streams.push_back(make_stream(hits, run.base.epoch_ticks, 2));
    run.payload.push_back({});
  }
  return run;
}

std::vector<std::vector<RefHit>> all_hits(const TestRun& run) {
  std::vector<std::vector<RefHit>> out;
  for (const auto& stream : run.streams) {
    out.emplace_back();
    for (const auto& buffer : stream) out.back().insert(out.back().end(), buffer.hits.begin(), buffer.hits.end());
  }
  return out;
}

void expect_reference(const TestRun& run) {
  const auto hits = all_hits(run);
  const auto expected = reference_events(hits, run.definition->text(), run.overlap);
  for (const auto length : kManySliceLengths) {
    SCOPED_TRACE("epochs per slice " + std::to_string(length));
    std::vector<BuildProblem> problems;
    const auto slices = run.build(length, problems);
    expect_events(slices, expected, hits, run.geometry(length), run.with_payload);
    EXPECT_TRUE(problems.empty());
  }
}

/// Times of the owned events over all slices.
std::vector<Tick> event_times(const TestRun& run, std::uint64_t epochs_per_slice) {
  std::vector<BuildProblem> problems;
  std::vector<Tick> times;
  for (const auto& slice : run.build(epochs_per_slice, problems)) {
    for (std::size_t i = 0; i < slice.events.size(); ++i) {
      if (slice.events.owned[i] != 0) times.push_back(slice.events.time[i]);
    }
  }
  return times;
}

}  // namespace

TEST(SliceBuilder, GapEventsByHand) {
  // Gap 5, at least 3: 10 14 19 | 30 31 | 40 45 50 55.
  const auto run = hand_made("gap:5,3", {{10, 19, 31, 45, 55}, {14, 30, 40, 50}});
  EXPECT_EQ(event_times(run, 1), (std::vector<Tick>{10, 40}));
  expect_reference(run);
}

TEST(SliceBuilder, MultiplicityEventsByHand) {
  // Bins of 10 from tick 0. Bins 2 (20 21 29) and 3 (30 31 39) are hot; 19 and 40 lie in their neighbours.
  const auto run = hand_made("multiplicity:10,3,0,0", {{19, 20, 29, 31, 40}, {21, 30, 39}});
  EXPECT_EQ(event_times(run, 1), (std::vector<Tick>{20}));
  expect_reference(run);
  const auto widened = hand_made("multiplicity:10,3,1,1", {{19, 20, 29, 31, 40}, {21, 30, 39}});
  EXPECT_EQ(event_times(widened, 1), (std::vector<Tick>{19}));
  expect_reference(widened);
}

TEST(SliceBuilder, CoincidencesByHand) {
  // Windows of 10 with hits of both sources: those of 10 (10 to 20) and of 100 (100 to 110), not those of 15, 30 or
  // 109.
  const std::vector<std::vector<Tick>> times = {{10, 30, 109}, {15, 100, 300}};
  const auto run = hand_made("coincidence:10,sources==2", times);
  EXPECT_EQ(event_times(run, 1), (std::vector<Tick>{10, 100}));
  expect_reference(run);
  // The first event lasts until 20 + 10, the tick of the hit at 30; the second begins at 100 - 70: both contain that
  // hit.
  EXPECT_EQ(event_times(hand_made("coincidence:10,sources==2,70,10", times, 1000), 1), (std::vector<Tick>{10}));
  EXPECT_EQ(event_times(hand_made("coincidence:10,sources==2,69,10", times, 1000), 1), (std::vector<Tick>{10, 100}));
}

TEST(SliceBuilder, GapEventsWidenedByHand) {
  const std::vector<std::vector<Tick>> times = {{2, 10, 12, 18, 30, 32, 60}};
  EXPECT_EQ(event_times(hand_made("gap:3,2,8,6", times), 1), (std::vector<Tick>{2, 30}));
  EXPECT_EQ(event_times(hand_made("gap:3,2,12,6", times), 1), (std::vector<Tick>{2}));  // 18 is in both events
  EXPECT_EQ(event_times(hand_made("gap:3,2,7,6", times), 1), (std::vector<Tick>{10, 30}));
  expect_reference(hand_made("gap:3,2,8,6", times));
}

TEST(SliceBuilder, WidenedIntervalsThatTouchAreOneEvent) {
  // Hot bins 1 and 4 with pre = post = 1: [0, 2] and [3, 5] touch. With hot bins 1 and 5 they do not.
  EXPECT_EQ(event_times(hand_made("multiplicity:10,2,1,1", {{10, 11, 40, 41}}), 1).size(), 1U);
  EXPECT_EQ(event_times(hand_made("multiplicity:10,2,1,1", {{10, 11, 50, 51}}), 1).size(), 2U);
}

TEST(SliceBuilder, WideningStopsAtTickZero) {
  expect_reference(hand_made("multiplicity:10,2,5,0", {{0, 3, 15, 16, 400}}));
}

TEST(SliceBuilder, EqualTimesAreOneTagAndSortBySource) {
  const auto run = hand_made("tag", {{7, 7, 99, 100, 100}, {7, 100}, {99, 5000}});
  EXPECT_EQ(event_times(run, 1), (std::vector<Tick>{7, 99, 100, 5000}));
  expect_reference(run);
}

TEST(SliceBuilder, HitsOnSliceEdges) {
  const std::vector<std::vector<Tick>> times = {{0, 99, 100, 199, 200, 299, 300, 999, 1000},
                                                {99, 100, 300, 1000, 1001}};
  expect_reference(hand_made("gap:1,2", times));
  expect_reference(hand_made("multiplicity:3,2,1,0", times));
  expect_reference(hand_made("tag", times));
}

TEST(SliceBuilder, NoHitsAndOneHit) {
  for (std::string_view definition :
       {"gap:5,1", "gap:5,1,3,3", "multiplicity:7,1,1,1", "coincidence:7,n_hits<5,1,1", "coincidence:7,A>=1", "tag"}) {
    expect_reference(hand_made(definition, {{}, {}}));
    expect_reference(hand_made(definition, {{}, {1234}}));
  }
}

TEST(SliceBuilder, LongEventIsCutAndItsRestStartsNoOther) {
  // One run of 60 hits, 10 apart, over six epochs; the overlap keeps the first 101 ticks, or 11 hits.
  std::vector<Tick> times;
  for (Tick t = 250; t < 850; t += 10) times.push_back(t);
  const auto run = hand_made("gap:10,3", {times}, 100);
  EXPECT_EQ(event_times(run, 1), (std::vector<Tick>{250}));
  EXPECT_EQ(event_times(run, 3), (std::vector<Tick>{250}));
  expect_reference(run);
  expect_reference(hand_made("multiplicity:10,1,2,2", {times}, 100));
}

TEST(SliceBuilder, AnEventMayReachOverASliceWithoutAHitInIt) {
  // Hot bins 1 and 5, of 50, joined by pre = 3; no hit lies in epoch 1, ticks 100 to 199.
  const auto run = hand_made("multiplicity:50,2,3,0", {{60, 70, 260, 270}}, 250);
  std::vector<BuildProblem> problems;
  const auto slices = run.build(1, {0}, {2}, problems);
  EXPECT_EQ(slices[0].events.size(), 1U);
  EXPECT_EQ(slices[1].events.size(), 0U);
  EXPECT_EQ(slices[2].events.size(), 1U);
  expect_reference(run);
}

/// A run of 4 hits of which the cut leaves 2.
TEST(SliceBuilder, HitsBeforeTheCutDecideAboutTheMinimum) {
  for (const auto* definition : {"gap:30,2", "gap:30,3", "gap:30,4"}) {
    const auto run = hand_made(definition, {{100, 120, 150, 180}}, 40);
    EXPECT_EQ(event_times(run, 1), std::vector<Tick>{100}) << definition;
    expect_reference(run);
  }
  EXPECT_TRUE(event_times(hand_made("gap:30,5", {{100, 120, 150, 180}}, 40), 1).empty());
}

/// The fortieth hit lies several overlaps and slices behind the first.
TEST(SliceBuilder, HitsFarBehindTheCutDecideAboutTheMinimum) {
  for (const std::uint64_t hits : {39, 40, 41}) {
    std::vector<Tick> times;
    for (std::uint64_t i = 0; i < hits; ++i) times.push_back(Tick(95 + 30 * i));
    const auto run = hand_made("gap:30,40", {times}, 40);
    EXPECT_EQ(event_times(run, 1).size(), hits >= 40 ? 1U : 0U);
    expect_reference(run);
  }
}

TEST(SliceBuilder, TimesInsideAnEpochNeedNotRise) {
  expect_reference(hand_made("gap:4,2", {{90, 10, 14, 10, 99, 150, 101, 101}, {50, 12, 90, 199, 100}}));
  expect_reference(hand_made("tag", {{90, 10, 14, 10, 99, 150, 101, 101}, {50, 12, 90, 199, 100}}));
}

TEST(SliceBuilder, EpochNumbersWrapAt28Bits) {
  const Tick wrap = tick_of_epoch(1 << 28, 100);
  const auto run = hand_made("gap:5,2", {{wrap - 102, wrap - 3, wrap, wrap + 4, wrap + 250, wrap + 251}});
  EXPECT_EQ(event_times(run, 3), (std::vector<Tick>{wrap - 3, wrap + 250}));
  expect_reference(run);
}

TEST(SliceBuilder, RefusesAWindowOf36BitsAndMore) {
  SliceBuilderSettings settings;
  settings.events = {{parse_event_definition("gap:0,1", 1000), settings.geometry.overlap}};
  settings.payload.resize(1);
  settings.geometry.epochs_per_slice = (std::uint64_t{1} << 36) / settings.geometry.base.epoch_ticks;
  EXPECT_THROW(SliceBuilder{settings}, UserError);
  settings.geometry.epochs_per_slice = 1;
  settings.events.front().overlap = std::numeric_limits<Tick>::max();
  EXPECT_THROW(SliceBuilder{settings}, UserError);
}

namespace {

/// The distribution of hits in a random run.
struct Shape {
  const char* name;
  std::size_t sources;
  double mean_distance;   ///< ticks between clusters, in each source
  std::uint32_t cluster;  ///< hits at most in one cluster
  std::uint32_t spread;   ///< ticks of one cluster
  bool shuffled;
  int payload;  ///< words of each hit; -1: the first word says how many

  friend void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
};

std::vector<RefHit> random_hits(const Shape& shape, std::uint16_t source, std::uint32_t epoch_ticks, Tick end,
                                std::mt19937_64& random) {
  std::exponential_distribution<double> distance(1.0 / shape.mean_distance);
  std::vector<RefHit> hits;
  for (double at = 0; at < static_cast<double>(end); at += distance(random)) {
    for (std::uint64_t n = 1 + random() % shape.cluster; n > 0; --n) {
      RefHit hit{static_cast<Tick>(at) + Tick(random() % shape.spread),
                 static_cast<std::uint32_t>(random() & kValueMask),
                 {},
                 source};
      const auto words = shape.payload < 0 ? random() % 4 : static_cast<std::uint64_t>(shape.payload);
      if (shape.payload < 0) hit.payload.push_back(static_cast<std::uint32_t>(words));
      for (std::uint64_t w = 0; w < words; ++w) hit.payload.push_back(static_cast<std::uint32_t>(random()));
      hits.push_back(std::move(hit));
    }
  }
  std::shuffle(hits.begin(), hits.end(), random);
  const Tick unit(shape.shuffled ? epoch_ticks : 1);
  std::stable_sort(hits.begin(), hits.end(),
                   [&](const RefHit& a, const RefHit& b) { return a.time / unit < b.time / unit; });
  return hits;
}

TestRun random_run(const Shape& shape, std::string_view definition, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TestRun run;
  run.definition = parse_event_definition(definition, 1000, reference_detector(shape.sources));
  run.overlap = Tick(50 + random() % 200);
  run.with_payload = shape.payload != 0;
  const auto words = static_cast<std::uint8_t>(shape.payload < 0 ? PayloadTable::kLengthInFirstWord : shape.payload);
  for (std::size_t s = 0; s < shape.sources; ++s) {
    run.payload.push_back(PayloadTable::uniform(words));
    const auto hits = random_hits(shape, static_cast<std::uint16_t>(s), run.base.epoch_ticks, 9000, random);
    run.streams.push_back(
        make_stream(hits, run.base.epoch_ticks, [&] { return static_cast<std::uint32_t>(1 + random() % 17); }));
  }
  return run;
}

constexpr Shape kShapes[] = {{"sparse", 3, 60, 1, 1, false, 0},       {"single_source", 1, 4, 2, 3, false, 0},
                             {"shuffled", 4, 6, 2, 4, true, 0},       {"dense", 3, 0.3, 1, 1, true, 0},
                             {"bursts", 5, 400, 60, 20, false, 0},    {"pileup", 2, 300, 80, 1, true, 0},
                             {"payload", 3, 10, 3, 5, false, 3},      {"length_in_first_word", 3, 10, 3, 5, true, -1},
                             {"many_sources", 40, 120, 2, 9, true, 0}};

constexpr const char* kManyDefinitions[] = {"gap:3,2",
                                            "gap:0,1",
                                            "gap:40,5",
                                            "multiplicity:10,3,0,0",
                                            "multiplicity:7,2,1,3",
                                            "multiplicity:1,1,0,2",
                                            "multiplicity:64,4,2,0",
                                            "gap:3,2,5,0",
                                            "gap:0,2,1,30",
                                            "gap:20,4,40,7",
                                            "coincidence:5,n_hits>=3",
                                            "coincidence:0,sources>=2,3,3",
                                            "coincidence:30,A>=1&&B>=2&&none==0,0,20",
                                            "coincidence:12,sources<2&&n_hits>=2||channel:0x1000000-0x2ffffff>=2,15,0",
                                            "coincidence:40,source:1-2>=1&&A!=1&&systems==1,1,1",
                                            "tag"};

class RandomStreams : public ::testing::TestWithParam<std::tuple<Shape, std::size_t>> {};

}  // namespace

TEST_P(RandomStreams, AgreeWithTheReferenceForAllSliceLengths) {
  const auto& [shape, definition] = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_reference(random_run(shape, kManyDefinitions[definition], seed));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(SliceBuilder, RandomStreams,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::Range<std::size_t>(0, std::size(kManyDefinitions))),
                         [](const auto& shape_and_definition) {
                           return std::string(std::get<0>(shape_and_definition.param).name) + "_" +
                                  std::to_string(std::get<1>(shape_and_definition.param));
                         });

TEST(SliceBuilder, ManyHitsInOneSliceSortRight) {
  // Even, crowded and empty stretches, long enough for several tiles of the time sort.
  for (const Shape& shape : {Shape{"even", 4, 2, 1, 1, true, 0}, Shape{"bursts", 6, 3000, 300, 30, false, 0}}) {
    std::mt19937_64 random(7);
    TestRun run;
    run.base.epoch_ticks = 1000;
    run.overlap = 500;
    run.definition = parse_event_definition("gap:10,4", 1000);
    for (std::size_t s = 0; s < shape.sources; ++s) {
      auto hits = random_hits(shape, static_cast<std::uint16_t>(s), run.base.epoch_ticks, 60'000, random);
      std::erase_if(hits, [](const RefHit& h) { return h.time > 20'000 && h.time < 40'000; });
      run.payload.push_back({});
      run.streams.push_back(make_stream(hits, run.base.epoch_ticks, 16));
    }
    const auto hits = all_hits(run);
    std::vector<BuildProblem> problems;
    expect_events(run.build(100, problems), reference_events(hits, run.definition->text(), run.overlap), hits,
                  run.geometry(100), false);
  }
}

}  // namespace eventloom::test
