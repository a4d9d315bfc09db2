#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/definitions/per_source.hpp"
#include "found_events.hpp"

namespace eventloom::test {

namespace {

EventDefinitionPtr definition(std::string_view text) {
  auto detector = std::make_shared<Detector>(2);
  detector->add_group("A");
  detector->change({0, 5, 9}, [](ChannelInfo& info) { info.groups = 1; });
  return parse_event_definition(text, 1000, detector);
}

std::vector<Times> events_of(const EventDefinition& definition, const Times& times, const SortedHits& hits) {
  const auto keys = keys_at(times);
  EventList events;
  events.restart(keys, {hits.start, 0, 1000, 1000});
  auto all = hits;
  all.keys = keys;
  definition.find(all, events);
  return times_of(events);
}

}  // namespace

TEST(Fixed, BinsBeginAtTickZero) {
  const auto bins = definition("fixed:100ns");
  EXPECT_EQ(bins->text(), "fixed:100");
  EXPECT_EQ(bins->traits().reach, Tick(100));
  EXPECT_EQ(events_of(*bins, {0, 99, 100, 305, 399}, {}), (std::vector<Times>{{0, 99}, {100}, {305, 399}}));
  EXPECT_EQ(events_of(*bins, {0, 49, 50, 99}, {.start = 250}), (std::vector<Times>{{0, 49}, {50, 99}}))
      << "ticks count from 250, so that a bin ends at 50";
}

TEST(Trigger, TakesTheHitsAroundThoseThatSatisfyTheCondition) {
  const std::vector<std::uint32_t> channels = {1, 7, 1, 1, 8, 1};
  const std::vector<std::uint16_t> sources(6);
  const SortedHits hits{.start = 0, .keys = {}, .channel = channels, .source = sources};
  const Times times = {10, 20, 30, 50, 50, 90};
  EXPECT_EQ(definition("trigger:A>=1,5ns,10ns")->text(), "trigger:A>=1,5,10");
  EXPECT_EQ(events_of(*definition("trigger:A>=1,5,10"), times, hits), (std::vector<Times>{{20, 30}, {50, 50}}));
  EXPECT_EQ(events_of(*definition("trigger:A>=1,20,10"), times, hits), (std::vector<Times>{{10, 20, 30, 50, 50}}))
      << "windows that share a tick are one event";
  EXPECT_EQ(events_of(*definition("trigger:A>=1,0,0"), times, hits), (std::vector<Times>{{20}, {50, 50}}));
  EXPECT_EQ(events_of(*definition("trigger:n_hits>=2,5,5"), times, hits), (std::vector<Times>{}))
      << "the condition sees one hit alone";
}

TEST(PerSource, HitsOfOtherSourcesDoNotCount) {
  const std::vector<std::uint32_t> channels(6);
  const std::vector<std::uint16_t> sources = {0, 1, 0, 1, 0, 1};
  const SortedHits hits{.start = 0, .keys = {}, .channel = channels, .source = sources};
  const auto gaps = per_source(definition("gap:10,2"));
  EXPECT_EQ(gaps->text(), "per-source gap:10,2");
  EXPECT_FALSE(gaps->traits().finds_runs);
  EXPECT_EQ(events_of(*gaps, {0, 0, 5, 8, 30, 31}, hits), (std::vector<Times>{{0, 5}, {0, 8}}));
  EXPECT_THROW(per_source(definition("tag")), std::invalid_argument);
}

}  // namespace eventloom::test
