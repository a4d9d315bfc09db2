#include "io/packed/field.hpp"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom::test {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::uint64_t value_of(const std::vector<std::byte>& record, const std::string& text) {
  std::array<std::uint64_t, 1> value{};
  PackedField::parse(text, record.size(), "here").extract(record.data(), value);
  return value[0];
}

std::string error_of_field(const std::string& text, std::size_t record_bytes = 8) {
  try {
    PackedField::parse(text, record_bytes, "source 'x': time=");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

/// The value computed bit by bit from its definition.
std::uint64_t by_bits(const std::byte* record, std::size_t offset, std::size_t bytes, bool big, unsigned low,
                      unsigned high) {
  std::uint64_t value = 0;
  for (unsigned bit = low; bit <= high; ++bit) {
    const std::size_t byte = big ? offset + bytes - 1 - bit / 8 : offset + bit / 8;
    const auto one = static_cast<std::uint64_t>(record[byte]) >> bit % 8 & 1;
    value |= one << (bit - low);
  }
  return value;
}

}  // namespace

TEST(PackedField, EveryType) {
  const auto record = bytes_of({0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99});
  EXPECT_EQ(value_of(record, "u8@0"), 0x11U);
  EXPECT_EQ(value_of(record, "u8@8"), 0x99U);
  EXPECT_EQ(value_of(record, "u16le@0"), 0x2211U);
  EXPECT_EQ(value_of(record, "u16be@7"), 0x8899U);
  EXPECT_EQ(value_of(record, "u24le@1"), 0x443322U);
  EXPECT_EQ(value_of(record, "u24be@6"), 0x778899U);
  EXPECT_EQ(value_of(record, "u32le@5"), 0x99887766U);
  EXPECT_EQ(value_of(record, "u32be@0"), 0x11223344U);
  EXPECT_EQ(value_of(record, "u40le@0"), 0x5544332211U);
  EXPECT_EQ(value_of(record, "u40be@4"), 0x5566778899U);
  EXPECT_EQ(value_of(record, "u48le@3"), 0x998877665544U);
  EXPECT_EQ(value_of(record, "u48be@0"), 0x112233445566U);
  EXPECT_EQ(value_of(record, "u64le@1"), 0x9988776655443322U);
  EXPECT_EQ(value_of(record, "u64be@0"), 0x1122334455667788U);
}

TEST(PackedField, Bits) {
  const auto record = bytes_of({0x12, 0x34, 0x56, 0x78, 0xff, 0x00, 0x0f, 0xf0});
  EXPECT_EQ(value_of(record, "u32le@4:0-21"), 0x0f00ffU);
  EXPECT_EQ(value_of(record, "u32be@0:28-31"), 0x1U);
  EXPECT_EQ(value_of(record, "u32be@0:0-3"), 0x8U);
  EXPECT_EQ(value_of(record, "u8@1:4-7"), 0x3U);
  EXPECT_EQ(value_of(record, "u8@4:7-7"), 1U);
  EXPECT_EQ(value_of(record, "u8@4:7"), 1U);
  EXPECT_EQ(value_of(record, "u64be@0:0-63"), 0x12345678ff000ff0U);
}

TEST(PackedField, EveryPlaceInEveryRecord) {
  std::mt19937 random(5);
  for (std::size_t size = 1; size <= 20; ++size) {
    std::vector<std::byte> records(size * 3);  // of exactly this size: a sanitizer detects reads beyond it
    for (auto& byte : records) byte = static_cast<std::byte>(random());
    for (const std::size_t bytes : {1U, 2U, 3U, 4U, 5U, 6U, 8U}) {
      for (std::size_t offset = 0; offset + bytes <= size; ++offset) {
        for (const bool big : {false, true}) {
          const auto low = static_cast<unsigned>(random() % (bytes * 8));
          const auto high = low + static_cast<unsigned>(random() % (bytes * 8 - low));
          const char* order = big ? "be" : "le";
          const auto text = fmt::format("u{}{}@{}:{}-{}", bytes * 8, bytes == 1 ? "" : order, offset, low, high);
          std::array<std::uint64_t, 3> values{};
          PackedField::parse(text, size, "").extract(records.data(), values);
          for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(values[i], by_bits(&records[i * size], offset, bytes, big, low, high)) << text << " of " << size;
          }
        }
      }
    }
  }
}

TEST(PackedField, WordsGoWhereTheyAreWanted) {
  const auto records = bytes_of({1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16});
  const auto field = PackedField::parse("u48be@0", 6, "");
  EXPECT_EQ(field.bits(), 48U);
  std::array<std::uint32_t, 6> words{};
  field.extract_words(records.data(), 2, 0, words.data(), 3);
  field.extract_words(records.data(), 2, 32, words.data() + 1, 3);
  EXPECT_EQ(words, (std::array<std::uint32_t, 6>{0x03040506, 0x0102, 0, 0x0d0e0f10, 0x0b0c, 0}));
}

TEST(PackedField, WrongDescriptionsAreNamed) {
  for (const auto* text : {"",
                           "u",
                           "u8",
                           "u8@",
                           "@0",
                           "8@0",
                           "i24le@0",
                           "u7@0",
                           "u0@0",
                           "u56le@0",
                           "u72le@0",
                           "u16@0",
                           "u8le@0",
                           "u16le@x",
                           "u16le@-1",
                           "u16le@0:",
                           "u16le@0:3-",
                           "u16le@0:a-b",
                           "u16le@0 ",
                           "u16le@0:1-2x",
                           "u16LE@0",
                           "u99999999999999999999le@0",
                           "u16le@99999999999999999999"}) {
    EXPECT_NE(error_of_field(text).find("source 'x': time=: '" + std::string(text) + "' is not TYPE@OFFSET"),
              std::string::npos)
        << text << ": " << error_of_field(text);
  }
  for (const auto* text : {"u8@8", "u16le@7", "u64be@1", "u8@18446744073709551615"}) {
    EXPECT_NE(error_of_field(text).find("does not lie inside a record of 8 bytes"), std::string::npos) << text;
  }
  EXPECT_NE(error_of_field("u16le@0", 1).find("record of 1 bytes"), std::string::npos);
  for (const auto* text : {"u16le@0:5-4", "u16le@0:0-16", "u8@0:8-8", "u16le@0:18446744073709551615-0"}) {
    EXPECT_NE(error_of_field(text).find("names bits that are not LOW-HIGH"), std::string::npos) << text;
  }
}

}  // namespace eventloom::test
