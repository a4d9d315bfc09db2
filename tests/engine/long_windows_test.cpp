#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "engine_fixture.hpp"

namespace eventloom::test {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMillisecond;

std::string ms(std::uint64_t n) { return std::to_string(n * kMillisecond); }

/// Windows of seconds at ticks of 1 ns: the data of a slice span more than 2^32 ticks.
class LongWindows : public Engine {
 protected:
  /// Three sources, 200 s: one hit in 2 s each, and groups of five hits within 200 ms.
  static RunCase sparse(CaseMaker& maker) {
    RunCase of;
    of.base.epoch_ticks = 10'000;
    const auto end = 200 * kSecond;
    for (std::uint16_t s = 0; s < 3; ++s) {
      auto& stream = of.hits.emplace_back();
      const auto add = [&](std::uint64_t time) {
        stream.push_back({Tick(time), static_cast<std::uint32_t>(maker.draw(0, 3)), {}, s});
      };
      for (int n = 0; n < 100; ++n) add(maker.draw(0, end));
      for (int n = 0; n < 20; ++n) {
        const auto near = maker.draw(0, end);
        for (int i = 0; i < 5; ++i) add(near + maker.draw(0, 200 * kMillisecond));
      }
      std::ranges::stable_sort(stream, {}, &RefHit::time);
    }
    choose_definition(maker, of);
    maker.choose_setup(of);
    of.slot_ns = 0;
    return of;
  }

  static void choose_definition(CaseMaker& maker, RunCase& of) {
    const auto second = ms(1000);
    const std::vector<FurtherEvents> definitions = {
        {"coincidence:" + second + ",channel:1-1>=1&&channel:2-2>=1&&source:0-0>=1", Tick(4 * kSecond)},
        {"gap:" + ms(80) + ",4", Tick(5 * kSecond)},
        {"gap:" + ms(60) + ",3," + second + "," + ms(500), Tick(7 * kSecond)},
        {"multiplicity:" + ms(250) + ",4,1,2", Tick(6 * kSecond)},
        {"coincidence:" + ms(100) + ",n_hits>=4," + ms(300) + "," + ms(2000), Tick(3 * kSecond)},
        {"per-source gap:" + ms(90) + ",3", Tick(5 * kSecond)}};
    const auto first = maker.draw(0, definitions.size() - 1);
    of.definition = definitions[first].definition;
    of.overlap = definitions[first].overlap;
    if (maker.draw(0, 1) == 0) of.further.push_back(definitions[maker.draw(0, definitions.size() - 1)]);
    if (maker.draw(0, 3) == 0) of.filter = {"duration>" + ms(50) + "&&sources>=2"};
    constexpr std::array<std::uint64_t, 5> kSlices = {50'000, 100'000, 400'000, 1'000'000, 3'333'333};
    of.epochs_per_slice = kSlices[maker.draw(0, 4)];
  }
};

TEST_F(LongWindows, EqualTheReference) {
  for (std::uint64_t seed = 1; seed <= cases(100) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    expect_whole(sparse(maker));
  }
}

/// Offsets between channels of one source, so that the hits of a slice lie far apart.
TEST_F(LongWindows, OffsetsOfSeconds) {
  for (std::uint64_t seed = 1; seed <= cases(100) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = sparse(maker);
    of.epochs_per_slice = std::min<std::uint64_t>(of.epochs_per_slice, 1'000'000);
    auto detector = std::make_shared<Detector>(3);
    for (std::uint16_t s = 0; s < 3; ++s) {
      for (std::uint32_t channel = 0; channel < 4; ++channel) {
        const auto offset =
            static_cast<std::int64_t>(maker.draw(0, 20 * kSecond)) - 10 * static_cast<std::int64_t>(kSecond);
        const bool masked = maker.draw(0, 9) == 0;
        detector->change({s, channel, channel}, [&](ChannelInfo& info) {
          info.offset = offset;
          info.masked = masked;
        });
      }
    }
    of.detector = detector;
    expect_whole(of);
  }
}

/// Together with what leaves hits out, which looks far back, too.
TEST_F(LongWindows, DeadTimesAndStretches) {
  for (std::uint64_t seed = 1; seed <= cases(40) && !HasFailure(); ++seed) {
    CaseMaker maker(seed);
    auto of = sparse(maker);
    of.epochs_per_slice = std::min<std::uint64_t>(of.epochs_per_slice, 1'000'000);
    auto detector = std::make_shared<Detector>(3);
    for (std::uint16_t s = 0; s < 3; ++s) {
      const auto dead = maker.draw(1, 150) * kMillisecond;
      detector->change({s}, [&](ChannelInfo& info) { info.dead_time = Tick(dead); });
    }
    of.detector = detector;
    of.stretch = {Tick(maker.draw(0, 100 * kSecond)), Tick(maker.draw(100 * kSecond, 200 * kSecond))};
    expect_whole(of);
  }
}

}  // namespace
}  // namespace eventloom::test
