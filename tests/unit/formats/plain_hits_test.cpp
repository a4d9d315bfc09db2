#include "formats/plain_hits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <span>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

namespace {

struct PlainResult {
  std::size_t n_words = 0;
  std::uint32_t open = 0;
  std::vector<std::uint32_t> tick;
  std::vector<std::uint32_t> channel;

  bool operator==(const PlainResult&) const = default;
};

std::ostream& operator<<(std::ostream& out, const PlainResult& result) {
  return out << result.n_words << " words, epoch " << result.open << ", " << result.tick.size() << " hits";
}

/// The words before the others are T markers that would claim IDs.
PlainResult unpack(PlainHitUnpacker unpacker, const std::vector<std::uint32_t>& words, EpochCount epochs) {
  std::vector<std::uint32_t> memory(2, encode_time(3, 2));
  memory.insert(memory.end(), words.begin(), words.end());
  const auto room = words.size() + kPlainVector;
  PlainResult out{0, 0, std::vector<std::uint32_t>(room), std::vector<std::uint32_t>(room)};
  const auto done = unpacker(std::span(memory).subspan(2), epochs, {out.tick.data(), out.channel.data()});
  out.n_words = done.n_words;
  out.open = epochs.open;
  out.tick.resize(done.n_hits);
  out.channel.resize(done.n_hits);
  return out;
}

/// The expected result, word by word, up to the first wrong one.
PlainResult expected(const std::vector<std::uint32_t>& words, EpochCount epochs) {
  PlainResult out{0, epochs.open, {}, {}};
  while (out.n_words < words.size()) {
    const std::uint32_t word = words[out.n_words];
    if (marker_type(word) == MarkerType::epoch) {
      const std::uint32_t epoch = (word - epochs.first_epoch) & kValueMask;
      if (epoch <= out.open || epoch >= epochs.end) break;
      out.open = epoch;
      ++out.n_words;
      continue;
    }
    const std::uint32_t time = word & kTimeMask;
    const std::size_t n = marker_value(word) >> 19;
    const auto ids = std::span(words).subspan(out.n_words + 1);
    const bool plain =
        marker_type(word) == MarkerType::time && time < epochs.epoch_ticks && (n == 1 || n == 2) && n <= ids.size() &&
        std::ranges::all_of(ids.first(n), [](std::uint32_t id) { return marker_type(id) == MarkerType::channel; });
    if (!plain) break;
    for (const auto id : ids.first(n)) {
      out.tick.push_back(epochs.first_tick + out.open * epochs.epoch_ticks + time);
      out.channel.push_back(marker_value(id));
    }
    out.n_words += 1 + n;
  }
  return out;
}

/// A stream with up to `most` times per epoch, each with one or two hits, and an occasional other word.
std::vector<std::uint32_t> random_words(std::mt19937& random, const EpochCount& epochs, unsigned most, unsigned rare) {
  std::vector<std::uint32_t> words;
  std::uint32_t epoch = epochs.open;
  for (int i = 0; i < 40; ++i) {
    epoch += 1 + (random() % 4 == 0 ? random() % 1000 : 0);
    words.push_back(encode_marker(MarkerType::epoch, epochs.first_epoch + epoch));
    for (auto n = random() % (most + 1); n > 0; --n) {
      const auto hits = 1 + static_cast<std::uint32_t>(random() % 4 == 0);
      words.push_back(encode_time(random() % epochs.epoch_ticks, hits));
      for (auto left = hits; left > 0; --left) {
        words.push_back(encode_marker(MarkerType::channel, static_cast<std::uint32_t>(random())));
      }
    }
  }
  const std::vector<std::uint32_t> others = {
      encode_time(3, 2),
      encode_time(3, 3),
      encode_time(3, 0),
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

TEST(PlainHits, AreThoseOfTheWordsOneByOne) {
  std::mt19937 random(3);
  with_each_processor([&] {
    for (int round = 0; round < 4000; ++round) {
      const EpochCount epochs{.first_epoch = static_cast<std::uint32_t>(random()) & kValueMask,
                              .first_tick = static_cast<std::uint32_t>(random()),
                              .epoch_ticks = 1 + static_cast<std::uint32_t>(random()) % 500'000,
                              .end = round % 2 == 0 ? kValueMask : 500 + static_cast<std::uint32_t>(random()) % 9000,
                              .open = static_cast<std::uint32_t>(random()) % 3};
      const auto words = random_words(random, epochs, 1 + round % 40, round % 3 == 0 ? 1'000'000 : 60);
      const auto want = expected(words, epochs);
      ASSERT_EQ(unpack(dense_hit_unpacker(), words, epochs), want) << round;
      ASSERT_EQ(unpack(sparse_hit_unpacker(), words, epochs), want) << round;
    }
  });
}

TEST(PlainHits, EndWithAnyNumberOfWords) {
  std::mt19937 random(5);
  with_each_processor([&] {
    const EpochCount epochs{.first_epoch = 5, .first_tick = 0, .epoch_ticks = 10, .end = kValueMask, .open = 0};
    auto words = random_words(random, epochs, 2, 1'000'000);
    for (; !words.empty(); words.pop_back()) {
      const auto want = expected(words, epochs);
      ASSERT_EQ(unpack(dense_hit_unpacker(), words, epochs), want) << words.size();
      ASSERT_EQ(unpack(sparse_hit_unpacker(), words, epochs), want) << words.size();
    }
  });
}

}  // namespace eventloom::test
