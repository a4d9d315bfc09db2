#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "event_reference.hpp"
#include "formats/sorted_hit.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {

namespace {

constexpr Tick kGap = 12;
constexpr std::uint64_t kMinHits = 2;
constexpr std::uint32_t kChannels = 5;
constexpr Tick kOverlap = 60;

/// Evaluates each channel alone: a run of hits, each at most kGap after the previous one. No definition of the program
/// has such events yet: their hits lie between those of others.
class ChannelGap final : public EventDefinition {
 public:
  [[nodiscard]] std::string text() const override { return "channel_gap"; }
  [[nodiscard]] DefinitionTraits traits() const override {
    return {.reach = kGap, .longest_length = kGap, .needs_channels = true, .finds_runs = false};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    std::map<std::uint32_t, std::vector<HitKey>> open;
    std::vector<std::vector<HitKey>> lists;
    for (const HitKey key : hits.keys) {
      auto& run = open[hits.channel[number_of(key)]];
      if (!run.empty() && tick_of(key) - tick_of(run.back()) > kGap) lists.push_back(std::exchange(run, {}));
      run.push_back(key);
    }
    for (auto& [channel, run] : open) lists.push_back(std::move(run));
    std::erase_if(lists, [](const auto& list) { return list.size() < kMinHits; });
    std::ranges::sort(lists);
    for (const auto& list : lists) {
      if (!events.add_list(list)) break;
    }
  }
};

/// Hits of few channels, sorted or unsorted within an epoch; the payload numbers the hits of a source.
TestRun make_run(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TestRun run;
  run.definition = std::make_shared<ChannelGap>();
  run.overlap = kOverlap;
  run.with_payload = true;
  run.payload.assign(3, PayloadTable::uniform(1));
  for (std::uint16_t s = 0; s < 3; ++s) {
    std::vector<RefHit> hits;
    for (Tick t(random() % 20); t < 4000; t += Tick(random() % 9)) {
      hits.push_back({t, static_cast<std::uint32_t>(random() % kChannels), {}, s});
    }
    if (seed % 2 == 0) {
      std::ranges::shuffle(hits, random);
      std::ranges::stable_sort(hits, {}, [&](const RefHit& h) { return epoch_of(h.time, run.base.epoch_ticks); });
    }
    for (std::size_t i = 0; i < hits.size(); ++i) hits[i].payload = {static_cast<std::uint32_t>(i)};
    run.streams.push_back(make_stream(hits, run.base.epoch_ticks, 3));
  }
  return run;
}

std::vector<std::vector<RefHit>> hits_of(const TestRun& run) {
  std::vector<std::vector<RefHit>> out(run.streams.size());
  for (std::size_t s = 0; s < out.size(); ++s) {
    for (const auto& buffer : run.streams[s]) out[s].insert(out[s].end(), buffer.hits.begin(), buffer.hits.end());
  }
  return out;
}

/// The events of each channel's hits alone, in the order of their first hits.
std::vector<RefEvent> reference(const std::vector<std::vector<RefHit>>& hits) {
  std::vector<RefEvent> events;
  for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
    auto own = hits;
    for (auto& source : own) std::erase_if(source, [&](const RefHit& h) { return h.channel != channel; });
    const auto definition = "gap:" + std::to_string(kGap.value) + "," + std::to_string(kMinHits);
    std::ranges::move(reference_events(own, definition, kOverlap), std::back_inserter(events));
  }
  std::ranges::sort(events, {}, [](const RefEvent& e) {
    const auto& first = e.hits.front();
    return std::tuple(first.time, first.source, first.payload[0]);
  });
  return events;
}

/// A slice of 10 epochs that holds epochs 10 to 19 of the run, as it is saved.
SortedSlice saved(const TestRun& run) {
  SliceBuilder builder({run.geometry(10), {{run.definition, run.overlap}}, run.payload, run.with_payload});
  std::vector<std::vector<std::byte>> bytes(run.streams.size());
  std::vector<SourceSlice> sources;
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    for (const auto& buffer : run.streams[s]) {
      if (buffer.header.epochs().overlaps(run.geometry(10).sent_epochs({1})))
        bytes[s].insert(bytes[s].end(), buffer.bytes.begin(), buffer.bytes.end());
    }
    sources.push_back({{bytes[s]}, {}});
  }
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  SortedSlice sorted;
  builder.build({1}, sources, built, problems, &sorted);
  EXPECT_GT(built.front().events.size(), 0U);
  return sorted;
}

}  // namespace

TEST(SliceBuilderLists, EventsNeedNotBeRunsOfTheSortedHits) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto run = make_run(seed);
    const auto hits = hits_of(run);
    const auto expected = reference(hits);
    EXPECT_TRUE(std::ranges::any_of(expected, &RefEvent::truncated));
    for (const std::uint64_t length : {1, 3, 10, 1000}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", epochs per slice " + std::to_string(length));
      std::vector<BuildProblem> problems;
      expect_events(run.build(length, problems), expected, hits, run.geometry(length), true);
      EXPECT_TRUE(problems.empty());
    }
  }
}

// A tag refers to an event by its number of hits, which must be adjacent.
TEST(SliceBuilderLists, AreSavedWithoutTags) {
  const auto run = make_run(1);
  const auto sorted = saved(run);
  SliceBuilderSettings settings{run.geometry(10), {{run.definition, run.overlap}}, {sorted_payload_table()}, true};
  settings.sorted = {3};
  SliceDecoder decoder(settings);
  std::vector<BuildProblem> problems;
  const std::vector<SourceSlice> streams{{{sorted.buffers}, {}}};
  decoder.decode({1}, streams, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_GT(decoder.hits().size, 0U);
  EXPECT_TRUE(decoder.hits().tags.empty());
}

}  // namespace eventloom::test
