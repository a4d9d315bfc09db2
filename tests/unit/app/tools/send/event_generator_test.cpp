#include <gtest/gtest.h>

#include <numeric>
#include <tuple>
#include <vector>

#include "app/tools/send/generate_events.hpp"

namespace eventloom::test {
namespace {

GenerateSettings settings(const std::string& timing) {
  GenerateSettings settings;
  settings.timing = timing;
  settings.noise = 200'000;
  settings.payload = 2;
  settings.width = 3000;
  settings.duration = 2'000'000;
  return settings;
}

/// All hits of all sources and all events.
struct Made {
  std::vector<std::vector<std::tuple<Tick, std::uint32_t>>> hits;
  std::vector<std::vector<std::uint32_t>> payload;
  std::vector<std::tuple<Tick, Tick, std::uint64_t>> events;

  void take(const EventGenerator& generator, std::uint32_t sources) {
    hits.resize(sources);
    payload.resize(sources);
    for (std::uint32_t s = 0; s < sources; ++s) {
      const auto& made = generator.hits(s);
      for (std::size_t i = 0; i < made.size(); ++i) hits[s].emplace_back(made.time[i], made.channel[i]);
      payload[s].insert(payload[s].end(), made.payload.begin(), made.payload.end());
    }
    for (const auto& event : generator.events()) events.emplace_back(event.first, event.last, event.hits);
  }
  [[nodiscard]] std::uint64_t n_hits() const {
    return std::accumulate(hits.begin(), hits.end(), std::uint64_t{0},
                           [](std::uint64_t n, const auto& stream) { return n + stream.size(); });
  }
  [[nodiscard]] std::uint64_t n_event_hits() const {
    return std::accumulate(events.begin(), events.end(), std::uint64_t{0},
                           [](std::uint64_t n, const auto& event) { return n + std::get<2>(event); });
  }
};

Made make(const GenerateSettings& settings, Tick step) {
  EventGenerator generator(settings);
  Made made;
  for (Tick time = 0; time < settings.duration; time += step) {
    generator.make_until(time + step);
    for (std::uint32_t s = 0; s < settings.sources; ++s) {
      for (const Tick at : generator.hits(s).time) EXPECT_LT(at, time + step);
    }
    made.take(generator, settings.sources);
    generator.clear();
  }
  return made;
}

TEST(EventGenerator, MakesTheSameHoweverFarItIsAskedToGo) {
  for (const auto* timing : {"static", "gaussian", "poisson", "burst"}) {
    const auto s = settings(timing);
    const auto expected = make(s, s.duration);
    ASSERT_GT(expected.n_hits(), 1000U);
    for (const Tick step : {Tick(777), Tick(10'000), Tick(300'000)}) {
      const auto made = make(s, step);
      EXPECT_EQ(made.hits, expected.hits) << timing << ' ' << step.value;
      EXPECT_EQ(made.payload, expected.payload) << timing << ' ' << step.value;
      EXPECT_EQ(made.events, expected.events) << timing << ' ' << step.value;
    }
  }
}

/// Every event that has begun is complete, no further one begins, and hits and truth agree.
TEST(EventGenerator, StopsAfterTheEventsThatHaveBegun) {
  auto s = settings("poisson");
  s.noise = 0;
  for (const Tick at : {Tick(0), Tick(500), Tick(123'456), Tick(1'999'999)}) {
    EventGenerator generator(s);
    generator.make_until(at);
    const auto begun = generator.events().size();
    const Tick end = generator.stop();
    generator.make_until(end);
    Made made;
    made.take(generator, s.sources);
    EXPECT_EQ(made.events.size(), begun) << at.value;
    EXPECT_EQ(made.n_hits(), made.n_event_hits()) << at.value;
    EXPECT_GE(end, at);
    EXPECT_LE(end, s.duration);
    EXPECT_LT(end, at + s.width + 3);
  }
}

}  // namespace
}  // namespace eventloom::test
