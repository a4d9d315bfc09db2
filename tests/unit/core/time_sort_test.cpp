#include "core/dataflow/time_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/dataflow/tile_merge.hpp"
#include "each_processor.hpp"

namespace eventloom::test {

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  /// A random number from 0 to `most`.
  std::uint64_t up_to(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(generator_); }

 private:
  std::mt19937_64 generator_;
};

/// Sources with hits at random ticks, sorted within each source.
struct Hits {
  Hits(Random& random, std::size_t n_sources, std::uint64_t n_per_source, std::uint64_t n_epochs,
       std::uint32_t epoch_ticks) {
    decoded.tick.require(n_sources * n_per_source + 1);
    for (std::size_t s = 0; s < n_sources; ++s) {
      std::vector<std::uint64_t> ticks(random.up_to(n_per_source));
      for (auto& tick : ticks) tick = random.up_to(n_epochs * epoch_ticks - 1);
      std::ranges::sort(ticks);
      add_source(ticks, epoch_ticks);
    }
    std::ranges::sort(keys);
  }

  void add_source(const std::vector<std::uint64_t>& ticks, std::uint32_t epoch_ticks) {
    DecodedSource source;
    source.begin = decoded.size;
    for (const auto tick : ticks) {
      const std::uint64_t epoch_tick = tick / epoch_ticks * epoch_ticks;
      const bool far = source.marks.empty() || epoch_tick >= source.marks.back().tick + DecodedSource::kMarkDistance;
      if (far) source.marks.push_back({epoch_tick, decoded.size});
      keys.push_back(make_key(tick, decoded.size));
      decoded.tick.data()[decoded.size++] = static_cast<std::uint32_t>(tick);
    }
    source.end = decoded.size;
    decoded.sources.push_back(source);
  }

  DecodedHits decoded;
  std::vector<HitKey> keys;  ///< sorted
};

}  // namespace

TEST(TimeSort, OrdersHitsByTimeAndNumber) {
  Random random(1);
  with_each_processor([&] {
    TimeSort time_sort;
    for (int round = 0; round < 300; ++round) {
      const std::size_t n_sources = 1 + random.up_to(round % 10 == 0 ? 150 : 9);
      const std::uint64_t n_epochs = 1 + random.up_to(round % 3 == 0 ? 1000 : 40);  // 2^34 ticks at most
      const auto epoch_ticks = static_cast<std::uint32_t>(1 + random.up_to(std::uint64_t{1} << random.up_to(24)));
      const Hits hits(random, n_sources, random.up_to(3000), n_epochs, epoch_ticks);
      const auto sorted = time_sort.sort(hits.decoded, Epoch(n_epochs), epoch_ticks);
      ASSERT_TRUE(std::ranges::equal(sorted, hits.keys))
          << round << ": " << n_sources << " sources, " << n_epochs << " epochs of " << epoch_ticks;
    }
  });
}

TEST(TimeSort, OrdersHitsOfASourceThatIsNot) {
  Random random(2);
  TimeSort time_sort;
  for (int round = 0; round < 100; ++round) {
    Hits hits(random, 4, 2000, 10, 50'000);
    auto& source = hits.decoded.sources[round % 4];
    source.ordered = false;
    if (source.begin == source.end) continue;
    auto* const ticks = hits.decoded.tick.data();
    const auto epoch = ticks[source.begin] / 50'000;
    std::reverse(ticks + source.begin, std::find_if(ticks + source.begin, ticks + source.end,
                                                    [=](std::uint32_t tick) { return tick / 50'000 != epoch; }));
    std::vector<HitKey> expected;
    for (const auto& of : hits.decoded.sources) {
      for (auto i = of.begin; i < of.end; ++i) expected.push_back(make_key(hits.decoded.tick.data()[i], i));
    }
    std::ranges::sort(expected);
    ASSERT_TRUE(std::ranges::equal(time_sort.sort(hits.decoded, 10, 50'000), expected)) << round;
  }
}

TEST(TileMerge, MergesPiecesOfAnyLengths) {
  Random random(3);
  with_each_processor([&] {
    TileMerge merge;
    for (int round = 0; round < 500; ++round) {
      const std::uint64_t begin = random.up_to(std::uint64_t{1} << 35);
      const std::uint64_t n_ticks = 1 + random.up_to(std::uint64_t{1} << random.up_to(18));
      std::vector<std::uint32_t> ticks(random.up_to(100));  // hits of other tiles
      std::vector<HitPiece> pieces;
      std::vector<HitKey> expected;
      const auto n_pieces = 1 + random.up_to(round % 5 == 0 ? 127 : 7);
      for (std::uint64_t p = 0; p < n_pieces; ++p) {
        std::vector<std::uint64_t> own(1 + random.up_to(round % 2 == 0 ? 60 : 3));
        for (auto& tick : own) tick = begin + random.up_to(n_ticks - 1);
        std::ranges::sort(own);
        const auto first = static_cast<std::uint32_t>(ticks.size());
        for (const auto tick : own) {
          expected.push_back(make_key(tick, static_cast<std::uint32_t>(ticks.size())));
          ticks.push_back(static_cast<std::uint32_t>(tick));
        }
        pieces.push_back({first, static_cast<std::uint32_t>(ticks.size())});
        ticks.resize(ticks.size() + random.up_to(5));
      }
      std::ranges::sort(expected);
      const auto n_hits = static_cast<std::uint32_t>(expected.size());
      if (!merge.suits(n_pieces, n_hits, n_ticks)) continue;
      std::vector<HitKey> sorted(n_hits);
      merge.sort(ticks.data(), pieces, begin, sorted.data());
      ASSERT_EQ(sorted, expected) << round << ": " << n_pieces << " pieces";
    }
  });
}

}  // namespace eventloom::test
