#include "formats/stream_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom::test {

namespace {

StreamHeader example() {
  StreamHeader header{.source = 7, .base = {250, 40'000}, .payload = {}, .text = "test beam, run 12"};
  header.payload.words[3] = 2;
  header.payload.words[63] = PayloadTable::kLengthInFirstWord;
  return header;
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto more = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// A file for which only the index and the trailer matter.
std::vector<std::byte> indexed_file() {
  auto file = encode_stream_header(example());
  const std::vector<IndexEntry> index = {{192, 5, 3, 10, 20, 99}, {400, 9, 1, 2, 4, 98}};
  file.resize(512);
  StreamFileTrailer trailer{.index_offset = file.size(), .n_buffers = 2, .n_hits = 12, .first_tick = 5, .last_tick = 9};
  seal(trailer, index);
  for (const auto& entry : index) append(file, entry);
  append(file, trailer);
  return file;
}

}  // namespace

TEST(StreamFile, HeaderIsReadAsWritten) {
  const auto bytes = encode_stream_header(example());
  EXPECT_EQ(bytes.size(), 128U);  // 104 + 17, rounded up to 64
  const unsigned char magic[] = {0x89, 0x31, 'E', 'P', 'C', 'H', 'S', 0x0a};
  EXPECT_EQ(std::memcmp(bytes.data(), magic, 8), 0);
  const auto decoded = decode_stream_header(bytes);
  EXPECT_EQ(decoded.header, example());
  EXPECT_EQ(decoded.first_buffer_offset, 128U);
}

TEST(StreamFile, EveryBitOfTheHeaderIsChecked) {
  const auto bytes = encode_stream_header(example());
  for (std::size_t bit = 0; bit < (104 + 17) * 8; ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_THROW(decode_stream_header(flipped), std::runtime_error) << "bit " << bit;
  }
}

TEST(StreamFile, ShortOrSenselessHeadersAreRefused) {
  const auto bytes = encode_stream_header(example());
  EXPECT_THROW(decode_stream_header(std::span(bytes).first(103)), std::runtime_error);
  EXPECT_THROW(decode_stream_header(std::span(bytes).first(110)), std::runtime_error);
  auto header = example();
  header.base.tick_ps = 0;
  EXPECT_THROW(decode_stream_header(encode_stream_header(header)), std::runtime_error);
  header.base = {1000, kMaxEpochTicks + 1};
  EXPECT_THROW(decode_stream_header(encode_stream_header(header)), std::runtime_error);
  header.base = {1000, kMaxEpochTicks};
  EXPECT_EQ(decode_stream_header(encode_stream_header(header)).header, header);
}

TEST(StreamFile, FlagsAreReadAsWritten) {
  EXPECT_EQ(kNumbered, 1U);  // files with these bits exist
  EXPECT_EQ(kTriggerInPayload, 2U);
  for (std::uint32_t flags = 0; flags <= 0x3fff; ++flags) {
    if ((flags & ~kKnownStreamFlags) != 0 || (flags & kNamedPayload) != 0) continue;
    auto header = example();
    header.flags = flags;
    const auto bytes = encode_stream_header(header);
    std::uint32_t stored = 0;
    std::memcpy(&stored, bytes.data() + 36, sizeof stored);
    EXPECT_EQ(stored, flags);
    EXPECT_EQ(decode_stream_header(bytes).header, header);
    EXPECT_EQ(decode_stream_header(bytes).header.flags, flags);
  }
}

TEST(StreamFile, FlagsThatAreNotKnownAreRefused) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    auto header = example();
    header.flags = std::uint32_t{1} << bit | kNumbered;
    if ((header.flags & ~kKnownStreamFlags) == 0) continue;
    try {
      decode_stream_header(encode_stream_header(header));
      ADD_FAILURE() << "bit " << bit << " was accepted";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("offset 36"), std::string::npos) << e.what();
    }
  }
}

TEST(StreamFile, IndexIsFoundFromTheEnd) {
  const auto file = indexed_file();
  bool damaged = true;
  const auto view = find_index(file, damaged);
  ASSERT_TRUE(view);
  EXPECT_FALSE(damaged);
  EXPECT_EQ(view->trailer.n_hits, 12U);
  ASSERT_EQ(view->entries.size(), 2U);
  EXPECT_EQ(view->entries[1].offset, 400U);
  EXPECT_EQ(view->entries[0].epochs(), (EpochRange{5, 8}));
}

TEST(StreamFile, AFlippedBitInIndexOrTrailerShows) {
  const auto file = indexed_file();
  for (std::size_t bit = 512 * 8; bit < (file.size() - 8) * 8; ++bit) {  // the last 8 bytes are reserved
    auto flipped = file;
    flipped[bit / 8] ^= std::byte(1U << bit % 8);
    bool damaged = false;
    EXPECT_FALSE(find_index(flipped, damaged)) << "bit " << bit;
    EXPECT_TRUE(damaged) << "bit " << bit;
  }
}

TEST(StreamFile, WithoutTrailerThereIsNoIndexAndNoDamage) {
  const auto file = indexed_file();
  for (const std::size_t n : {0UL, 63UL, 128UL, 512UL}) {
    bool damaged = true;
    EXPECT_FALSE(find_index(std::span(file).first(n), damaged));
    EXPECT_FALSE(damaged);
  }
}

TEST(StreamFile, KeepsNamesAndKindsOfPayload) {
  auto header = example();
  header.text = "a text\nof lines";
  const std::vector<PayloadColumn> columns{
      {"energy", PayloadKind::f64}, {"", PayloadKind::i32}, {"flags", PayloadKind::u32}};
  set_payload(header, columns);
  EXPECT_EQ(header.payload, PayloadTable::uniform(4));
  const auto again = decode_stream_header(encode_stream_header(header)).header;
  EXPECT_EQ(again, header);
  EXPECT_EQ(again.text, "a text\nof lines");
  EXPECT_EQ(again.payload_names, (std::vector<std::string>{"energy", "", "flags"}));
  EXPECT_EQ(payload_type_names(again), (std::vector<std::string>{"f64", "i32", "u32"}));
  const std::vector<std::uint32_t> flags{again.flags, kNumbered};
  EXPECT_EQ(first_payload_kinds(flags), (std::vector{PayloadKind::f64, PayloadKind::u32}));
}

}  // namespace eventloom::test
