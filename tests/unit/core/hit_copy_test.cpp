#include "core/dataflow/hit_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

namespace {

struct Copies {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;

  bool operator==(const Copies&) const = default;
};

/// Hits in time order, whose numbers are in random order.
struct SomeHits {
  SomeHits(std::uint32_t n, std::mt19937_64& random) : channel(n), source(n + 1) {
    std::vector<std::uint32_t> numbers(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      numbers[i] = i;
      channel[i] = static_cast<std::uint32_t>(random());
      source[i] = static_cast<std::uint16_t>(random());
    }
    std::ranges::shuffle(numbers, random);
    for (std::uint32_t i = 0; i < n; ++i) keys.push_back(make_key(kMostSliceTicks - n + i, numbers[i]));
  }

  [[nodiscard]] Copies copied(const std::vector<KeyBlock>& blocks, Tick start) const {
    std::size_t n = 0;
    for (const auto& block : blocks) n += block.end - block.begin;
    Copies out{std::vector<Tick>(n + kHitsBehind), std::vector<std::uint32_t>(n + kHitsBehind),
               std::vector<std::uint16_t>(n + kHitsBehind)};
    copy_hits(keys, blocks, {channel.data(), source.data()}, start,
              {out.time.data(), out.channel.data(), out.source.data()});
    out.time.resize(n);
    out.channel.resize(n);
    out.source.resize(n);
    return out;
  }
  [[nodiscard]] Copies expected(const std::vector<KeyBlock>& blocks, Tick start) const {
    Copies out;
    for (const auto& block : blocks) {
      for (auto k = block.begin; k < block.end; ++k) {
        out.time.push_back(start + tick_of(keys[k]));
        out.channel.push_back(channel[number_of(keys[k])]);
        out.source.push_back(source[number_of(keys[k])]);
      }
    }
    return out;
  }

  std::vector<HitKey> keys;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> source;
};

}  // namespace

TEST(HitCopy, HasTheHitsOfTheBlocks) {
  std::mt19937_64 random(4);
  with_each_processor([&] {
    for (std::uint32_t n = 1; n < 300; ++n) {
      const SomeHits hits(n, random);
      std::vector<KeyBlock> blocks;
      for (std::uint32_t k = static_cast<std::uint32_t>(random() % 5); k < n;) {
        const auto end = std::min(n, k + 1 + static_cast<std::uint32_t>(random() % 30));
        blocks.push_back({k, end});
        k = end + static_cast<std::uint32_t>(random() % 10);
      }
      const Tick start(random() >> 1);
      ASSERT_EQ(hits.copied(blocks, start), hits.expected(blocks, start)) << n << " hits";
    }
  });
}

}  // namespace eventloom::test
