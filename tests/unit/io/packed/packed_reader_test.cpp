#include "io/packed/packed_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom::test {
namespace {

constexpr TimeBase kBase{};  // ticks of 1 ns
using Ticks = std::vector<Tick>;
using Words = std::vector<std::uint32_t>;

/// Composes a file.
class Records {
 public:
  Records& le(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) text_ += static_cast<char>(i < 8 ? value >> (8 * i) & 0xff : 0);
    return *this;
  }
  Records& be(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) text_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class PackedReader : public testing::Test {
 protected:
  PackedReader() : path_(testing::TempDir() + "packed_" + std::to_string(getpid()) + ".bin") {}
  ~PackedReader() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  [[nodiscard]] std::unique_ptr<HitReader> open(const std::string& keys, const TimeBase& base = kBase) const {
    return open_packed(SourceUri::parse("packed:" + path_ + "?" + keys), {2}, base);
  }
  static HitBlock read_all(HitReader& reader) {
    HitBlock all;
    HitBlock block;
    while (reader.read(block)) {
      for (auto loss : block.losses) {
        EXPECT_LE(loss.before, block.size());
        loss.before += all.size();
        all.losses.push_back(loss);
      }
      all.time.insert(all.time.end(), block.time.begin(), block.time.end());
      all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
      all.payload.insert(all.payload.end(), block.payload.begin(), block.payload.end());
    }
    EXPECT_FALSE(reader.read(block));
    return all;
  }
  [[nodiscard]] HitBlock hits_of(const std::string& text, const std::string& keys, const TimeBase& base = kBase) const {
    write(text);
    return read_all(*open(keys, base));
  }
  [[nodiscard]] std::string error_of(const std::string& text, const std::string& keys,
                                     const TimeBase& base = kBase) const {
    try {
      (void)hits_of(text, keys, base);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }
  [[nodiscard]] testing::AssertionResult complains(const std::string& keys, const std::string& part) const {
    const auto said = error_of("0123456789abcdef", keys);
    if (said.find(part) != std::string::npos && said.find('\n') == std::string::npos) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "it says '" << said << "', without '" << part << "'";
  }

  std::string path_;
};

const std::string kShort = "record=4&time=u16le@0&channel=u16le@2";

}  // namespace

/// The records of a digitizer: board u16, channel u16, time in ps u64, energy u16, flags u16.
TEST_F(PackedReader, ListModeOfADigitizer) {
  Records file;
  file.le(1, 2).le(7, 2).le(1'000'000, 8).le(812, 2).le(0x4000, 2);
  file.le(2, 2).le(15, 2).le(1'004'000, 8).le(65535, 2).le(0, 2);
  const std::string keys = "record=16&time=u64le@4&channel=u16le@2&system=u16le@0&payload=u16le@12,u16le@14&unit=ps";
  write(file.text());
  const auto reader = open(keys);
  const auto hits = read_all(*reader);
  EXPECT_EQ(hits.time, (Ticks{1000, 1004}));
  EXPECT_EQ(hits.channel, (Words{1U << 22 | 7, 2U << 22 | 15}));
  EXPECT_EQ(hits.payload, (Words{812, 0x4000, 65535, 0}));
  EXPECT_TRUE(hits.losses.empty());
  EXPECT_EQ(reader->header().payload, PayloadTable::uniform(2));
  EXPECT_EQ(reader->header().source, 2U);
  EXPECT_EQ(reader->header().flags, 0U);
  EXPECT_EQ(reader->input().bytes, 32U);
  EXPECT_EQ(reader->counts().counters[Metric::records], 2U);
}

/// The records of a time tagger, 8 bytes: bit 63 edge, 62..54 channel, 53..0 time; big-endian.
TEST_F(PackedReader, WordsOfATimeTagger) {
  Records file;
  file.be(std::uint64_t{1} << 63 | std::uint64_t{300} << 54 | 123'456'789'012, 8).be(std::uint64_t{5} << 54 | 7, 8);
  const auto hits = hits_of(file.text(), "record=8&time=u64be@0:0-53&channel=u64be@0:54-62&payload=u8@0:7-7&unit=tick");
  EXPECT_EQ(hits.time, (Ticks{Tick(123'456'789'012), 7}));
  EXPECT_EQ(hits.channel, (Words{300, 5}));
  EXPECT_EQ(hits.payload, (Words{1, 0}));
}

TEST_F(PackedReader, WideFieldsGiveTwoWordsLowFirst) {
  Records file;
  file.le(1, 2).le(2, 2).le(0x1122334455667788, 8);
  EXPECT_EQ(
      hits_of(file.text(), "record=12&time=u16le@0&channel=u16le@2&payload=u64le@4,u8@0,u64le@4:0-31,u64le@4:0-32")
          .payload,
      (Words{0x55667788, 0x11223344, 1, 0x55667788, 0x55667788, 0}));
}

TEST_F(PackedReader, SignedAndFloatingNumbersAreKept) {
  Records file;
  file.le(7, 1)
      .le(0xfe, 1)
      .be(0xfffd, 2)
      .le(std::bit_cast<std::uint32_t>(-0.5F), 4)
      .be(std::bit_cast<std::uint64_t>(0.1), 8);
  file.le(8, 1).le(3, 1).be(4, 2).le(std::bit_cast<std::uint32_t>(1e30F), 4).be(std::bit_cast<std::uint64_t>(-2.0), 8);
  write(file.text());
  const auto reader = open("record=16&time=u8@0&channel=u8@0&payload=f64be@8,i8@1,i16be@2,f32le@4,i8@1*2.5");
  const auto hits = read_all(*reader);
  const auto& header = reader->header();
  EXPECT_EQ(header.payload, PayloadTable::uniform(6));
  const std::vector kinds{PayloadKind::f64, PayloadKind::i32, PayloadKind::i32, PayloadKind::f32, PayloadKind::i32};
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(payload_kind(header.flags, i), kinds[i]) << i;
  ASSERT_EQ(hits.payload.size(), 12U);
  const auto number = [&](PayloadKind kind, std::size_t at) {
    return payload_number(kind, std::span(hits.payload).subspan(at));
  };
  EXPECT_EQ(number(PayloadKind::f64, 0), 0.1);
  EXPECT_EQ(number(PayloadKind::i32, 2), -2.0);
  EXPECT_EQ(number(PayloadKind::i32, 3), -3.0);
  EXPECT_EQ(number(PayloadKind::f32, 4), -0.5);
  EXPECT_EQ(number(PayloadKind::i32, 5), -5.0);
  EXPECT_EQ(number(PayloadKind::f64, 6), -2.0);
  EXPECT_EQ(number(PayloadKind::i32, 11), 8.0) << "7.5 to the nearest, halves away from zero";
  EXPECT_TRUE(complains("record=16&time=u8@0&channel=u8@0&payload=i64le@0", "only times may be i64"));
  EXPECT_TRUE(complains("record=16&time=i16le@0&channel=u8@0", "bits=16 or modulus=N"));
  EXPECT_TRUE(complains("record=16&time=u8@0&channel=u8@0&payload=i24le@0", "'i24le@0' is not"));
}

TEST_F(PackedReader, SystemAndSubsystem) {
  Records file;
  file.le(9, 2).le(0xabcd, 2).le(0x3f, 1).le(0x21, 1);
  const std::string keys = "record=6&time=u16le@0&channel=u16le@2";
  EXPECT_EQ(hits_of(file.text(), keys + "&system=u8@4&subsystem=u8@5").channel, (Words{0x0fe1abcd}));
  EXPECT_EQ(hits_of(file.text(), keys + "&subsystem=u8@5").channel, (Words{0x0021abcd}));
  EXPECT_EQ(hits_of(file.text(), "record=6&time=u16le@0&channel=u24le@2:0-21&system=u8@5:0-5").channel,
            (Words{33U << 22 | 0x3fabcd}));
}

TEST_F(PackedReader, ChannelsThatDoNotFitAreLosses) {
  Records file;
  file.le(1, 1).le(0x0fffffff, 4).le(1, 1).le(2, 1).le(0x10000000, 4).le(2, 1).le(3, 1).le(0xffffffff, 4).le(3, 1);
  file.le(4, 1).le(5, 4).le(4, 1);
  const auto hits = hits_of(file.text(), "record=6&time=u8@0&channel=u32le@1&payload=u8@5");
  EXPECT_EQ(hits.time, (Ticks{1, 4}));
  EXPECT_EQ(hits.channel, (Words{0x0fffffff, 5}));
  EXPECT_EQ(hits.payload, (Words{1, 4}));
  ASSERT_EQ(hits.losses.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(hits.losses[i].before, 1U);
    EXPECT_EQ(hits.losses[i].offset, 6 + 6 * i);
    EXPECT_EQ(hits.losses[i].hits, 1U);
    EXPECT_EQ(hits.losses[i].cause, DropCause::corrupt);
    EXPECT_FALSE(hits.losses[i].breaks_off);
  }
}

TEST_F(PackedReader, EachPartOfAChannelMustFitItsPlace) {
  Records file;
  file.le(1, 1).le(0x10000, 3).le(0, 1).le(0, 1);   // channel of 17 bits
  file.le(2, 1).le(0, 3).le(64, 1).le(0, 1);        // system of 7
  file.le(3, 1).le(0, 3).le(0, 1).le(64, 1);        // subsystem of 7
  file.le(4, 1).le(0xffff, 3).le(63, 1).le(63, 1);  // all at their limits
  const std::string keys = "record=6&time=u8@0&channel=u24le@1";
  const auto both = hits_of(file.text(), keys + "&system=u8@4&subsystem=u8@5");
  EXPECT_EQ(both.time, (Ticks{4}));
  EXPECT_EQ(both.channel, (Words{0x0fffffff}));
  EXPECT_EQ(both.losses.size(), 3U);
  EXPECT_EQ(hits_of(file.text(), keys + "&system=u8@4").time, (Ticks{1, 3, 4}));
  EXPECT_EQ(hits_of(file.text(), keys + "&subsystem=u8@5").time, (Ticks{2, 4}));
  EXPECT_EQ(hits_of(file.text(), keys).time, (Ticks{1, 2, 3, 4}));
}

TEST_F(PackedReader, TimesThatDoNotFitAreLosses) {
  Records file;
  file.le(~std::uint64_t{0}, 8).le(5, 1).le(~std::uint64_t{0} / 1000, 8).le(6, 1);
  const std::string keys = "record=9&time=u64le@0&channel=u8@8";
  EXPECT_EQ(hits_of(file.text(), keys).time,
            (Ticks{std::numeric_limits<Tick>::max(), std::numeric_limits<Tick>::max() / 1000}));
  const auto hits = hits_of(file.text(), keys + "&unit=us");
  EXPECT_EQ(hits.time, (Ticks{std::numeric_limits<Tick>::max() / 1000 * 1000}));
  EXPECT_EQ(hits.channel, (Words{6}));
  ASSERT_EQ(hits.losses.size(), 1U);
  EXPECT_EQ(hits.losses[0].before, 0U);
  EXPECT_EQ(hits.losses[0].hits, 1U);
  EXPECT_EQ(hits_of(file.text().substr(0, 9), keys + "&unit=us").size(), 0U);
}

TEST_F(PackedReader, UnitsAndRounding) {
  Records file;
  file.le(3, 2).le(1, 2).le(1500, 2).le(2, 2);
  EXPECT_EQ(hits_of(file.text(), kShort).time, (Ticks{3, 1500}));
  EXPECT_EQ(hits_of(file.text(), kShort + "&unit=ms").time, (Ticks{3'000'000, 1'500'000'000}));
  EXPECT_EQ(hits_of(file.text(), kShort + "&unit=ps&round=down").time, (Ticks{0, 1}));
  EXPECT_EQ(hits_of(file.text(), kShort + "&unit=ps&round=nearest").time, (Ticks{0, 2}));
  EXPECT_EQ(hits_of(file.text(), kShort + "&unit=tick", {25000, 10000}).time, (Ticks{3, 1500}));
  EXPECT_NE(error_of(file.text(), kShort + "&unit=ps").find("the time 3 ps is not a whole number"), std::string::npos);
}

TEST_F(PackedReader, EventNumbers) {
  Records file;
  file.le(8, 2).le(1, 2).le(8, 2).le(2, 2).le(9, 2).le(1, 2);
  write(file.text());
  const auto reader = open(kShort + "&numbered=yes", {1000, 16});
  EXPECT_EQ(reader->header().flags, std::uint32_t{kNumbered});
  EXPECT_EQ(read_all(*reader).time, (Ticks{8, 8, 9}));
  EXPECT_EQ(open(kShort + "&numbered=no")->header().flags, 0U);
  EXPECT_TRUE(complains(kShort + "&numbered=maybe", "use yes or no"));
  EXPECT_TRUE(complains(kShort + "&numbered=yes&unit=ns", "event numbers have no unit"));
  EXPECT_TRUE(complains(kShort + "&numbered=yes&round=down", "event numbers have no unit"));
}

TEST_F(PackedReader, EveryPrefix) {
  Records file;
  for (std::uint64_t i = 0; i < 5; ++i) file.le(i, 2).le(i, 2);
  for (std::size_t n = 0; n <= 20; ++n) {
    const auto hits = hits_of(file.text().substr(0, n), kShort);
    EXPECT_EQ(hits.size(), n / 4) << n;
    ASSERT_EQ(hits.losses.size(), n % 4 == 0 ? 0U : 1U) << n;
    if (n % 4 == 0) continue;
    EXPECT_EQ(hits.losses[0].offset, n / 4 * 4);
    EXPECT_EQ(hits.losses[0].before, n / 4);
    EXPECT_EQ(hits.losses[0].hits, 1U);
    EXPECT_TRUE(hits.losses[0].breaks_off);
  }
}

TEST_F(PackedReader, SkipLeavesOutTheFront) {
  Records file;
  file.le(0xffffff, 3).le(1, 2).le(2, 2);
  EXPECT_EQ(hits_of(file.text(), kShort + "&skip=3").time, (Ticks{1}));
  EXPECT_EQ(hits_of(file.text(), kShort + "&skip=7").size(), 0U);
  EXPECT_NE(error_of(file.text(), kShort + "&skip=8").find("skip= is more than the 7 bytes"), std::string::npos);
}

TEST_F(PackedReader, GrowingAndShrinkingFilesBreakOff) {
  const std::string text(std::size_t{1} << 20, '\0');
  write(text);
  auto reader = open(kShort);
  write(text + "abcd");
  auto hits = read_all(*reader);
  EXPECT_EQ(hits.size(), text.size() / 4);
  ASSERT_EQ(hits.losses.size(), 1U);
  EXPECT_TRUE(hits.losses[0].breaks_off);
  EXPECT_EQ(hits.losses[0].hits, 0U);
  for (const std::size_t rest : {0U, 3U}) {
    write(text);
    reader = open(kShort);
    std::filesystem::resize_file(path_, text.size() / 2 + rest);
    hits = read_all(*reader);
    EXPECT_EQ(hits.size(), text.size() / 8);
    ASSERT_EQ(hits.losses.size(), 1U);
    EXPECT_TRUE(hits.losses[0].breaks_off);
    EXPECT_EQ(hits.losses[0].hits, rest == 0 ? 0U : 1U);
  }
}

TEST_F(PackedReader, ManyRecordsOfManySizes) {
  for (const std::size_t size : {2U, 3U, 5U, 7U, 8U, 13U, 64U, 1000U, 65536U}) {
    const std::size_t n = std::size_t{3} * 262144 / size + 2;
    Records file;
    for (std::size_t i = 0; i < n; ++i)
      file.le(i % 251, 1).le(i % 241, size - 1 < 8 ? size - 1 : 8).le(0, size < 9 ? 0 : size - 9);
    std::string text = file.text();
    const auto keys =
        "record=" + std::to_string(size) + "&time=u8@0&channel=u8@1&payload=u8@" + std::to_string(size - 1);
    const auto hits = hits_of(text, keys);
    ASSERT_EQ(hits.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(hits.time[i], Tick(i % 251));
      ASSERT_EQ(hits.channel[i], i % 241);
      ASSERT_EQ(hits.payload[i], size == 2 ? i % 241 : 0);
    }
  }
}

TEST_F(PackedReader, WrongDescriptionsAreNamed) {
  EXPECT_TRUE(complains("time=u8@0&channel=u8@1", "'record=' is missing"));
  EXPECT_TRUE(complains("record=4&channel=u8@1", "'time=' is missing"));
  EXPECT_TRUE(complains("record=4&time=u8@0", "'channel=' is missing"));
  EXPECT_TRUE(complains("record=0&time=u8@0&channel=u8@1", "'record' must be a whole number from 1 to 65536"));
  EXPECT_TRUE(complains("record=65537&time=u8@0&channel=u8@1", "'record' must be"));
  EXPECT_TRUE(
      complains("record=4&time=u64le@0&channel=u8@1", "time=: 'u64le@0' does not lie inside a record of 4 bytes"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u16@1", "channel=: 'u16@1' is not TYPE@OFFSET"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&system=u8@4", "system=: 'u8@4' does not lie"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&subsystem=u8@0:3-9", "subsystem=: 'u8@0:3-9' names bits"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&payload=u8@2,,u8@3", "payload= has an empty name"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&payload=u8@2,x", "payload=: 'x' is not"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&unit=day", "'day' is not a unit of time"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&round=up", "there are down and nearest"));
  EXPECT_TRUE(complains("record=4&time=u8@0&channel=u8@1&skip=x", "'skip' must be"));
  std::string many = "record=8&time=u8@0&channel=u8@1&payload=u64le@0";
  for (int i = 0; i < 127; ++i) many += ",u64le@0";
  EXPECT_TRUE(complains(many, "more than 254 words of 32 bits"));
  EXPECT_THROW(open_packed(SourceUri::parse("packed:/nowhere?" + kShort), {0}, kBase), UserError);
}

}  // namespace eventloom::test
