#include "formats/epoch_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <limits>
#include <stdexcept>

namespace eventloom::test {

namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

TEST(EpochBuffer, LayoutIsAsDrawn) {
  EpochBufferEncoder encoder(3, 1000, 128, {});
  std::vector<std::byte> bytes;
  encoder.add(5'010, 7, {});
  encoder.add(6'020, 8, {});
  encoder.add(6'020, 9, {});
  const auto header = encoder.close(bytes);
  ASSERT_TRUE(header);
  ASSERT_EQ(bytes.size(), 64U + 7 * 4 + 4);  // padded to 8
  EXPECT_EQ(std::memcmp(bytes.data(), "EPBF", 4), 0);
  EXPECT_EQ(word_at(bytes, 12), 3U);    // source
  EXPECT_EQ(word_at(bytes, 16), 5U);    // first epoch
  EXPECT_EQ(word_at(bytes, 24), 2U);    // epochs covered
  EXPECT_EQ(word_at(bytes, 28), 7U);    // words
  EXPECT_EQ(word_at(bytes, 32), 3U);    // hits
  EXPECT_EQ(word_at(bytes, 48), 128U);  // offset in the stream
  const Words expected = {5, 0x1008000a, 0x20000007, 6, 0x10100014, 0x20000008, 0x20000009};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(word_at(bytes, 64 + 4 * i), expected[i]);
  EXPECT_EQ(word_at(bytes, 64 + 28), 0U);
  EXPECT_TRUE(words_intact(*header, words_of(*header, bytes)));
}

TEST(EpochBuffer, EveryBitIsUnderAChecksum) {
  EpochBufferEncoder encoder(3, 1000, 128, {});
  std::vector<std::byte> bytes;
  encoder.add(5'010, 7, {});
  encoder.close(bytes);
  const auto good = *read_epoch_buffer_header(bytes);
  const std::size_t used = sizeof good + std::size_t{good.n_words} * 4;
  for (std::size_t bit = 0; bit < used * 8; ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] ^= std::byte(1U << bit % 8);
    const auto header = read_epoch_buffer_header(flipped);
    const bool accepted = header && words_intact(*header, words_of(*header, flipped));
    EXPECT_FALSE(accepted) << "bit " << bit;
  }
}

TEST(EpochBuffer, OnlyAMarkedOneWithoutWordsIsALossOfUnknownSize) {
  for (const bool marked : {false, true}) {
    EpochBufferHeader header{.n_epochs = 4};
    if (marked) header.words_crc = kUnknownLoss;
    std::vector<std::byte> bytes;
    append_stored(header, {}, bytes);
    const auto read = read_epoch_buffer_header(bytes);
    ASSERT_TRUE(read);
    EXPECT_TRUE(words_intact(*read, {}));
    EXPECT_EQ(is_unknown_loss(*read), marked);
    EXPECT_EQ(read->is_loss(), marked);
  }
  EXPECT_FALSE((EpochBufferHeader{.words_crc = kUnknownLoss, .n_words = 2}.is_loss()));
  EXPECT_TRUE((EpochBufferHeader{.n_hits = 3}.is_loss()));
}

TEST(EpochBuffer, HeadersThatNameNoEpochsAreRefused) {
  EpochBufferHeader header{.first_epoch = 5, .n_epochs = 0};
  seal(header, {});
  EXPECT_FALSE(read_epoch_buffer_header(std::as_bytes(std::span(&header, 1))));
  header.first_epoch = std::numeric_limits<Epoch>::max();
  header.n_epochs = 2;
  seal(header, {});
  EXPECT_FALSE(read_epoch_buffer_header(std::as_bytes(std::span(&header, 1))));
  header.first_epoch = 5;
  seal(header, {});
  EXPECT_TRUE(read_epoch_buffer_header(std::as_bytes(std::span(&header, 1))));
  EXPECT_FALSE(read_epoch_buffer_header(std::as_bytes(std::span(&header, 1)).first(63)));
}

TEST(EpochBuffer, BuffersOfAStreamCountOn) {
  EpochBufferEncoder encoder(0, 100, 64, {.epochs_per_buffer = 4, .words_per_buffer = 1000});
  std::vector<std::byte> bytes;
  const Tick times[] = {10, 399, 400, 1650};
  std::vector<EpochBufferHeader> headers;
  for (const Tick t : times) {
    if (encoder.must_close_before(t)) headers.push_back(*encoder.close(bytes));
    encoder.add(t, 1, Words{4});
  }
  headers.push_back(*encoder.close(bytes));
  EXPECT_FALSE(encoder.close(bytes));
  ASSERT_EQ(headers.size(), 3U);
  EXPECT_EQ(headers[0].epochs(), (EpochRange{0, 4}));
  EXPECT_EQ(headers[1].epochs(), (EpochRange{4, 5}));
  EXPECT_EQ(headers[2].epochs(), (EpochRange{16, 17}));
  EXPECT_EQ(headers[0].n_payload_words, 2U);
  EXPECT_EQ(headers[1].hits_before, 2U);
  EXPECT_EQ(headers[2].hits_before, 3U);
  EXPECT_EQ(headers[2].sequence, 2U);
  EXPECT_EQ(headers[1].stream_offset, 64 + headers[0].stored_bytes());
  EXPECT_EQ(encoder.stream_offset(), 64 + bytes.size());
  EXPECT_EQ(encoder.hits(), 4U);
}

TEST(EpochBuffer, ClosesAtTheEndOfTheEpochInWhichItIsFull) {
  EpochBufferEncoder encoder(0, 100, 0, {.epochs_per_buffer = 100, .words_per_buffer = 4});
  for (const Tick t : std::initializer_list<Tick>{10, 20, 30}) {
    EXPECT_FALSE(encoder.must_close_before(t));
    encoder.add(t, 1, {});
  }
  EXPECT_FALSE(encoder.must_close_before(99));
  EXPECT_TRUE(encoder.must_close_before(100));
  EXPECT_THROW(encoder.add(29, 1, {}), std::invalid_argument);
}

}  // namespace eventloom::test
