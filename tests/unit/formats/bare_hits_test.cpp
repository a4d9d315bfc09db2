#include "formats/bare_hits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

namespace {

struct Unpacked {
  std::vector<std::uint32_t> tick;
  std::vector<std::uint32_t> channel;
};

Unpacked unpack(const std::vector<std::uint32_t>& words, std::uint32_t epoch_ticks, std::uint32_t base) {
  Unpacked out{std::vector<std::uint32_t>(words.size() / 2), std::vector<std::uint32_t>(words.size() / 2)};
  const auto n = bare_hit_unpacker()(words, epoch_ticks, base, {out.tick.data(), out.channel.data()});
  out.tick.resize(n);
  out.channel.resize(n);
  return out;
}

/// At most this many hits are left to the reader of single markers: the widest vector has 16 lanes.
constexpr std::size_t kMostLeft = 15;
constexpr std::uint32_t kEpochTicks = 500'000;

}  // namespace

TEST(BareHits, AreUnpackedUpToTheFirstOtherWord) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  // Words in place of a T marker or its ID.
  const std::vector<std::uint32_t> others_first = {encode_time(3, 2),
                                                   encode_time(3, 0),
                                                   encode_time(3, kLongGroup),
                                                   encode_time(kEpochTicks, 1),
                                                   encode_time(kTimeMask, 1),
                                                   encode_marker(MarkerType::epoch, 1U << 19),
                                                   encode_marker(MarkerType::tag, 1U << 19),
                                                   0x90080003U,
                                                   0xffffffffU};
  const std::vector<std::uint32_t> others_second = {encode_time(3, 1), encode_marker(MarkerType::epoch, 7),
                                                    encode_marker(MarkerType::peak, 7), 0xa0000001U, 0xffffffffU};
  with_each_processor([&] {
    for (int round = 0; round < 3000; ++round) {
      const std::size_t n_good = below(60);
      const std::uint32_t base = random();
      std::vector<std::uint32_t> words;
      Unpacked expected;
      for (std::size_t i = 0; i < n_good; ++i) {
        const std::uint32_t time = below(10) == 0 ? kEpochTicks - 1 : below(kEpochTicks);
        const std::uint32_t channel = below(10) == 0 ? kValueMask : below(kValueMask);
        words.insert(words.end(), {encode_time(time, 1), encode_marker(MarkerType::channel, channel)});
        expected.tick.push_back(base + time);
        expected.channel.push_back(channel);
      }
      const bool second = below(2) == 0;
      words.push_back(second ? encode_time(1, 1) : others_first[below(others_first.size())]);
      words.push_back(second ? others_second[below(others_second.size())] : encode_marker(MarkerType::channel, 5));
      for (auto i = below(50); i > 0; --i) words.push_back(below(2) == 0 ? encode_time(1, 1) : 0x20000001U);
      const bool all = words.size() >= 2 * n_good + 2 * (kMostLeft + 1);
      auto found = unpack(words, kEpochTicks, base);
      ASSERT_LE(found.tick.size(), n_good);
      ASSERT_GE(found.tick.size() + (all ? 0 : kMostLeft), n_good);
      expected.tick.resize(found.tick.size());
      expected.channel.resize(found.tick.size());
      ASSERT_EQ(found.tick, expected.tick);
      ASSERT_EQ(found.channel, expected.channel);
    }
  });
}

TEST(BareHits, NoneInAFewWords) {
  with_each_processor([] {
    for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(unpack(std::vector(n, encode_time(1, 1)), 10, 0).tick.size(), 0U);
  });
}

TEST(BareHits, AFallIsFoundWhereverItIs) {
  std::mt19937 random(2);
  with_each_processor([&] {
    for (std::size_t n = 0; n < 70; ++n) {
      const std::uint32_t base = 0U - static_cast<std::uint32_t>(random() % 200);  // the low bits wrap within the epoch
      std::vector<std::uint32_t> times(n);
      for (auto& time : times) time = static_cast<std::uint32_t>(random() % 400);
      std::ranges::sort(times);
      for (auto& time : times) time += base;
      EXPECT_FALSE(falls_anywhere(times, base));
      for (std::size_t i = 1; i < n; ++i) {
        auto fallen = times;
        fallen[i] = fallen[i - 1] - 1;
        const bool falls = fallen[i - 1] != base;  // otherwise greater than all others
        const bool next_falls = i + 1 < n && fallen[i + 1] - base < fallen[i] - base;
        ASSERT_EQ(falls_anywhere(fallen, base), falls || next_falls) << i << " of " << n;
      }
    }
  });
}

}  // namespace eventloom::test
