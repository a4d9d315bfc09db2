#include "formats/sparse_hits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

namespace {

constexpr std::size_t kWidestVector = 16;

struct SparseResult {
  std::size_t n_words = 0;
  std::uint32_t open = 0;
  std::vector<std::uint32_t> tick;
  std::vector<std::uint32_t> channel;
};

SparseResult unpack_sparse(const std::vector<std::uint32_t>& words, EpochCount epochs) {
  SparseResult out{0, 0, std::vector<std::uint32_t>(words.size()), std::vector<std::uint32_t>(words.size())};
  const auto done = sparse_hit_unpacker()(words, epochs, {out.tick.data(), out.channel.data()});
  out.n_words = done.n_words;
  out.open = epochs.open;
  out.tick.resize(done.n_hits);
  out.channel.resize(done.n_hits);
  return out;
}

/// The expected result, word by word, up to word `end` or the first wrong one.
SparseResult expected(const std::vector<std::uint32_t>& words, EpochCount epochs, std::size_t end) {
  SparseResult out{0, epochs.open, {}, {}};
  while (out.n_words < end) {
    const std::uint32_t word = words[out.n_words];
    if (marker_type(word) == MarkerType::epoch) {
      const std::uint32_t epoch = (word - epochs.first_epoch) & kValueMask;
      if (epoch <= out.open || epoch >= epochs.end) break;
      out.open = epoch;
      ++out.n_words;
      continue;
    }
    const std::uint32_t time = word & kTimeMask;
    const bool hit = begins_bare_hit(word) && time < epochs.epoch_ticks && out.n_words + 1 < end &&
                     marker_type(words[out.n_words + 1]) == MarkerType::channel;
    if (!hit) break;
    out.tick.push_back(epochs.first_tick + out.open * epochs.epoch_ticks + time);
    out.channel.push_back(marker_value(words[out.n_words + 1]));
    out.n_words += 2;
  }
  return out;
}

/// A stream with up to `most` hits per epoch, some of which are omitted, and an occasional other word.
std::vector<std::uint32_t> random_words(std::mt19937& random, const EpochCount& epochs, unsigned most, unsigned rare) {
  std::vector<std::uint32_t> words;
  std::uint32_t epoch = epochs.open;
  for (int i = 0; i < 40; ++i) {
    epoch += 1 + (random() % 4 == 0 ? random() % 1000 : 0);
    words.push_back(encode_marker(MarkerType::epoch, epochs.first_epoch + epoch));
    for (auto n = random() % (most + 1); n > 0; --n) {
      words.push_back(encode_time(random() % epochs.epoch_ticks, 1));
      words.push_back(encode_marker(MarkerType::channel, static_cast<std::uint32_t>(random())));
    }
  }
  const std::vector<std::uint32_t> others = {
      encode_time(3, 2),
      encode_time(epochs.epoch_ticks, 1),
      encode_marker(MarkerType::epoch, epochs.first_epoch),  // falls
      encode_marker(MarkerType::epoch, epochs.first_epoch + epochs.end),
      encode_marker(MarkerType::tag, 5),
      encode_marker(MarkerType::channel, 7),
      encode_time(1, 1),
      0xf0000000U,
  };
  for (auto& word : words) {
    if (random() % rare == 0) word = others[random() % others.size()];
  }
  return words;
}

}  // namespace

TEST(SparseHits, AreThoseOfTheWordsOneByOne) {
  if (sparse_hit_unpacker() == nullptr) GTEST_SKIP() << "the processor has no vectors of 16 words";
  std::mt19937 random(3);
  std::size_t n_whole = 0;
  with_each_processor([&] {
    if (sparse_hit_unpacker() == nullptr) return;
    for (int round = 0; round < 4000; ++round) {
      const EpochCount epochs{.first_epoch = static_cast<std::uint32_t>(random()) & kValueMask,
                              .first_tick = static_cast<std::uint32_t>(random()),
                              .epoch_ticks = 1 + static_cast<std::uint32_t>(random()) % 500'000,
                              .end = round % 2 == 0 ? kValueMask : 500 + static_cast<std::uint32_t>(random()) % 9000,
                              .open = static_cast<std::uint32_t>(random()) % 3};
      const auto words = random_words(random, epochs, 1 + round % 4, round % 3 == 0 ? 1'000'000 : 60);
      const auto found = unpack_sparse(words, epochs);
      const auto want = expected(words, epochs, found.n_words);
      ASSERT_EQ(found.n_words, want.n_words) << round;
      ASSERT_EQ(found.open, want.open) << round;
      ASSERT_EQ(found.tick, want.tick) << round;
      ASSERT_EQ(found.channel, want.channel) << round;
      const auto whole = expected(words, epochs, words.size());
      const bool at_end = whole.n_words - found.n_words <= kWidestVector;
      n_whole += at_end ? 1 : 0;
    }
  });
  // The others stop before a vector without an epoch.
  EXPECT_GT(n_whole, std::size_t{500});
}

TEST(SparseHits, NoneInAFewWords) {
  if (sparse_hit_unpacker() == nullptr) GTEST_SKIP() << "the processor has no vectors of 16 words";
  with_each_processor([] {
    if (sparse_hit_unpacker() == nullptr) return;
    const EpochCount epochs{.first_epoch = 5, .first_tick = 0, .epoch_ticks = 10, .end = 100, .open = 0};
    for (std::uint32_t n = 0; n < 4; ++n) {
      std::vector<std::uint32_t> words;
      for (std::uint32_t i = 0; i < n; ++i) words.push_back(encode_marker(MarkerType::epoch, 6 + i));
      EXPECT_LE(unpack_sparse(words, epochs).n_words, n);
      EXPECT_EQ(unpack_sparse(words, epochs).open, unpack_sparse(words, epochs).n_words);
    }
  });
}

}  // namespace eventloom::test
