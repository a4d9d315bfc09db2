#include "io/spikes/spikes_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/runtime/error.hpp"
#include "spike_bytes.hpp"

namespace eventloom::test {
namespace {

constexpr std::size_t kFileHeader = 32;
constexpr std::size_t kPacketHeader = 40;
constexpr TimeBase kBase{};  // ticks of 1 ns

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class SpikesReader : public testing::Test {
 protected:
  SpikesReader() : path_(testing::TempDir() + "reader_" + std::to_string(getpid()) + ".spikes") {}
  ~SpikesReader() override { std::filesystem::remove(path_); }

  std::unique_ptr<HitReader> open(const Bytes& file, const std::string& keys = "", const TimeBase& base = kBase) {
    write(path_, file);
    return open_spikes(SourceUri::parse("spikes:" + path_ + keys), {3}, base);
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
      EXPECT_TRUE(block.payload.empty());
    }
    EXPECT_FALSE(reader.read(block));
    return all;
  }
  HitBlock hits_of(const Bytes& file, const std::string& keys = "", const TimeBase& base = kBase) {
    const auto reader = open(file, keys, base);
    auto hits = read_all(*reader);
    counts_ = reader->counts().by_name();
    return hits;
  }
  std::string error_of(const Bytes& file, const std::string& keys = "", const TimeBase& base = kBase) {
    try {
      hits_of(file, keys, base);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

  std::string path_;
  CountsByName counts_;
};

using Ticks = std::vector<Tick>;
using Channels = std::vector<std::uint32_t>;

/// Three packets of three, two and one spikes.
const Packet kFirst{0, 1000, {spike(0, 5), spike(10, 6), spike(0, 5)}, 3};
const Packet kSecond{1, 2000, {spike(7, 0), overflow(100'000), spike(1, 65535)}, 2};
const Packet kThird{2, 500'000, {spike(0, 1)}, 1};

Bytes three_packets() { return file_header(1000, 100) + to_bytes(kFirst) + to_bytes(kSecond) + to_bytes(kThird); }

std::size_t offset_of_second() { return kFileHeader + to_bytes(kFirst).size(); }
std::size_t offset_of_third() { return offset_of_second() + to_bytes(kSecond).size(); }

void expect_loss(const Loss& loss, std::size_t before, std::uint64_t offset, std::uint32_t hits, DropCause cause) {
  EXPECT_EQ(loss.before, before);
  EXPECT_EQ(loss.offset, offset);
  EXPECT_EQ(loss.hits, hits);
  EXPECT_EQ(loss.cause, cause);
}

}  // namespace

TEST_F(SpikesReader, ReadsWhatIsWrittenByHand) {
  const auto hits = hits_of(three_packets());
  EXPECT_EQ(hits.time, (Ticks{1000, 1010, 1010, 2007, 102'008, 500'000}));
  EXPECT_EQ(hits.channel, (Channels{105, 106, 105, 100, 65635, 101}));
  EXPECT_TRUE(hits.losses.empty());
  EXPECT_EQ(counts_["packets"], 3U);
}

TEST_F(SpikesReader, HeaderStatesTheSource) {
  const auto reader = open(three_packets());
  EXPECT_EQ(reader->header().source, 3U);
  EXPECT_EQ(reader->header().base, kBase);
  EXPECT_FALSE(reader->header().payload.any());
  EXPECT_EQ(reader->header().text, "spikes:" + path_);
  EXPECT_EQ(reader->name(), path_);
  EXPECT_EQ(reader->input().bytes, three_packets().size());
  EXPECT_EQ(reader->input().crc32c, bitwise_crc32c(three_packets()));
}

TEST_F(SpikesReader, DeltasAndOverflowsAtTheirBorders) {
  const Packet packet{0,
                      1,
                      {spike(0x7fff, 1), overflow(0x7fffffff), spike(0x7fff, 0x8000), overflow(0), spike(0, 0),
                       overflow(0x7fffffff), overflow(0x7fffffff), spike(1, 2), overflow(9)},
                      4};
  const auto hits = hits_of(file_header(1000, 0) + to_bytes(packet));
  EXPECT_EQ(hits.time,
            (Ticks{0x8000, Tick(0x8000 + 0x80007ffeULL), Tick(0x8000 + 0x80007ffeULL), Tick(0x8000 + 0x180007ffdULL)}));
  EXPECT_EQ(hits.channel, (Channels{1, 0x8000, 0, 2}));
  EXPECT_TRUE(hits.losses.empty());
}

TEST_F(SpikesReader, TimesMayFallFromPacketToPacket) {
  const Packet earlier{1, 10, {spike(0, 1)}, 1};
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(earlier)).time, (Ticks{1000, 1010, 1010, 10}));
}

TEST_F(SpikesReader, EmptyFilesAndPackets) {
  EXPECT_EQ(hits_of(file_header(1000, 0)).size(), 0U);
  const auto hits = hits_of(file_header(1000, 0) + to_bytes({0, 5, {}, 0}) + to_bytes({1, 5, {overflow(7)}, 0}));
  EXPECT_EQ(hits.size(), 0U);
  EXPECT_TRUE(hits.losses.empty());
  EXPECT_EQ(counts_["packets"], 2U);
}

TEST_F(SpikesReader, LabelReplacesTheBaseOfTheFile) {
  EXPECT_EQ(hits_of(three_packets(), "?label=0").channel, (Channels{5, 6, 5, 0, 65535, 1}));
  EXPECT_EQ(hits_of(three_packets(), "?label=268369920").channel.at(4), 0x0fffffffU);
  EXPECT_NE(error_of(three_packets(), "?label=268369921").find("'label' must be"), std::string::npos);
}

TEST_F(SpikesReader, TicksAreConvertedExactly) {
  EXPECT_EQ(hits_of(three_packets(), "", {250, 10000}).time.at(4), Tick(408'032));
  EXPECT_EQ(hits_of(three_packets(), "?round=down", {2000, 10000}).time, (Ticks{500, 505, 505, 1003, 51'004, 250'000}));
  EXPECT_EQ(hits_of(three_packets(), "?round=nearest", {2000, 10000}).time.at(3), Tick(1004));
  EXPECT_EQ(hits_of(three_packets(), "?round=nearest", {1500, 10000}).time,
            (Ticks{667, 673, 673, 1338, 68'005, 333'333}));
  EXPECT_NE(error_of(three_packets(), "", {2000, 10000}).find("2007 x 1ns is not a whole number"), std::string::npos);
  EXPECT_NE(error_of(three_packets(), "?round=up").find("there are down and nearest"), std::string::npos);
}

TEST_F(SpikesReader, TimesBeyond64BitsAreLosses) {
  const Packet last{1, ~std::uint64_t{0} - 4, {spike(5, 1)}, 1};
  const auto file = file_header(1000, 0) + to_bytes(kFirst) + to_bytes(last);
  const auto hits = hits_of(file);
  ASSERT_EQ(hits.losses.size(), 1U);
  expect_loss(hits.losses[0], 3, kFileHeader + kPacketHeader + 12, 1, DropCause::corrupt);
  const Packet highest{1, ~std::uint64_t{0} - 5, {spike(5, 1)}, 1};
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(highest)).time.back(),
            std::numeric_limits<Tick>::max());
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(highest), "", {500, 10000}).losses.size(), 1U);
  const auto wide = hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(highest), "?round=down", {1500, 10000});
  EXPECT_EQ(wide.time.back(), std::numeric_limits<Tick>::max() / 3 * 2);
}

TEST_F(SpikesReader, PacketsLastForFewTurnsOfACounter) {
  const Packet some{0, 1, {spike(0, 5), overflow(1000), spike(0, 6)}, 2};
  const Packet many{0, 1, {spike(0, 5), overflow(0x7fffffff), spike(0, 6)}, 2};
  EXPECT_EQ(hits_of(file_header(1000, 100) + to_bytes(some), "?modulus=2").time, (Ticks{1, 1001}));
  EXPECT_EQ(hits_of(file_header(1000, 100) + to_bytes(many), "?modulus=2").size(), 0U);
  EXPECT_EQ(counts_["damaged_packets"], 1U);
}

TEST_F(SpikesReader, WrongChecksumCostsOnePacket) {
  auto file = three_packets();
  file[offset_of_second() + kPacketHeader] ^= std::byte{1};
  const auto hits = hits_of(file);
  EXPECT_EQ(hits.time, (Ticks{1000, 1010, 1010, 500'000}));
  ASSERT_EQ(hits.losses.size(), 1U);
  expect_loss(hits.losses[0], 3, offset_of_second(), 2, DropCause::corrupt);
  EXPECT_TRUE(hits.losses[0].leaves_hole);
  EXPECT_FALSE(hits.losses[0].breaks_off);
  EXPECT_EQ(counts_["damaged_packets"], 1U);
  EXPECT_EQ(counts_["sequence_gaps"], 0U);
}

TEST_F(SpikesReader, PacketsAgainstTheFormatAreLeftOut) {
  const Packet liar{1, 5, {spike(0, 1), spike(0, 2)}, 1};
  const Packet boaster{2, 5, {spike(0, 1), overflow(2)}, 2};
  const auto hits = hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(liar) + to_bytes(boaster));
  EXPECT_EQ(hits.size(), 3U);
  ASSERT_EQ(hits.losses.size(), 2U);
  EXPECT_EQ(hits.losses[0].hits, 1U);
  EXPECT_EQ(hits.losses[1].hits, 2U);
  EXPECT_EQ(counts_["damaged_packets"], 2U);
}

TEST_F(SpikesReader, EveryBitOfAPacketHeaderCounts) {
  for (std::size_t bit = 0; bit < kPacketHeader * 8; ++bit) {
    auto file = three_packets();
    file[offset_of_second() + bit / 8] ^= std::byte(1U << bit % 8);
    const auto hits = hits_of(file);
    EXPECT_EQ(hits.time, (Ticks{1000, 1010, 1010, 500'000})) << "bit " << bit;
    ASSERT_EQ(hits.losses.size(), 1U) << "bit " << bit;
    expect_loss(hits.losses[0], 3, offset_of_second(), 0, DropCause::corrupt);
    EXPECT_TRUE(hits.losses[0].leaves_hole);
    EXPECT_EQ(counts_["missing_packets"], 1U);
  }
}

TEST_F(SpikesReader, DamagedLastHeaderBreaksOff) {
  auto file = three_packets();
  file[offset_of_third()] ^= std::byte{1};
  const auto hits = hits_of(file);
  EXPECT_EQ(hits.size(), 5U);
  ASSERT_EQ(hits.losses.size(), 1U);
  EXPECT_TRUE(hits.losses[0].breaks_off);
}

TEST_F(SpikesReader, SenselessNumbersInASealedHeader) {
  Packet many{1, 5, std::vector<std::uint32_t>(65537, spike(0, 1)), 65537};
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(many) + to_bytes(kThird)).size(), 4U);
  const Packet more_spikes{1, 5, {spike(0, 1)}, 2};
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(more_spikes) + to_bytes(kThird)).size(), 4U);
  many.entries.pop_back();
  many.n_spikes = 65536;
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(many) + to_bytes(kThird)).size(), 65540U);
}

TEST_F(SpikesReader, MissingNumbersLeaveAHole) {
  const auto hits = hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(kThird));
  EXPECT_EQ(hits.time, (Ticks{1000, 1010, 1010, 500'000}));
  ASSERT_EQ(hits.losses.size(), 1U);
  expect_loss(hits.losses[0], 3, offset_of_second(), 0, DropCause::corrupt);
  EXPECT_TRUE(hits.losses[0].leaves_hole);
  EXPECT_EQ(counts_["sequence_gaps"], 1U);
  EXPECT_EQ(counts_["missing_packets"], 1U);
  EXPECT_EQ(hits_of(file_header(1000, 0) + to_bytes(kThird)).losses.size(), 1U) << "the first packets are missing";
}

TEST_F(SpikesReader, RepeatedNumbersAreDuplicates) {
  const auto hits = hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(kFirst) + to_bytes(kSecond) +
                            to_bytes(kFirst) + to_bytes(kThird));
  EXPECT_EQ(hits.size(), 6U);
  ASSERT_EQ(hits.losses.size(), 2U);
  expect_loss(hits.losses[0], 3, offset_of_second(), 3, DropCause::duplicate);
  EXPECT_EQ(hits.losses[1].cause, DropCause::duplicate);
  EXPECT_FALSE(hits.losses[0].leaves_hole);
  EXPECT_EQ(counts_["duplicate_packets"], 2U);
}

TEST_F(SpikesReader, LatePacketsAreOutOfOrder) {
  const auto hits = hits_of(file_header(1000, 0) + to_bytes(kFirst) + to_bytes(kThird) + to_bytes(kSecond));
  EXPECT_EQ(hits.size(), 4U);
  ASSERT_EQ(hits.losses.size(), 2U);
  EXPECT_EQ(hits.losses[1].cause, DropCause::out_of_order);
  EXPECT_EQ(hits.losses[1].hits, 2U);
}

TEST_F(SpikesReader, EveryPrefixGivesItsWholePackets) {
  const auto file = three_packets();
  for (std::size_t n = 0; n < file.size(); ++n) {
    const auto prefix = Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    if (n < kFileHeader) {
      EXPECT_NE(error_of(prefix).find("shorter than the header"), std::string::npos) << n;
      continue;
    }
    const auto hits = hits_of(prefix);
    const std::size_t whole = n < offset_of_second()  ? kFileHeader
                              : n < offset_of_third() ? offset_of_second()
                                                      : offset_of_third();
    EXPECT_EQ(hits.size(), whole == kFileHeader ? 0U : whole == offset_of_second() ? 3U : 5U) << n;
    ASSERT_EQ(hits.losses.size(), n == whole ? 0U : 1U) << n;
    if (n == whole) continue;
    const std::uint32_t lost = n - whole < kPacketHeader     ? 0
                               : whole == kFileHeader        ? 3
                               : whole == offset_of_second() ? 2
                                                             : 1;
    expect_loss(hits.losses[0], hits.size(), whole, lost, DropCause::corrupt);
    EXPECT_TRUE(hits.losses[0].breaks_off);
  }
}

TEST_F(SpikesReader, GrowingFileBreaksOff) {
  const auto reader = open(three_packets());
  const auto more = to_bytes({3, 600'000, {spike(0, 1)}, 1});
  write(path_, three_packets() + more);
  const auto hits = read_all(*reader);
  EXPECT_EQ(hits.size(), 6U);
  ASSERT_EQ(hits.losses.size(), 1U);
  expect_loss(hits.losses[0], 6, three_packets().size(), 0, DropCause::corrupt);
  EXPECT_TRUE(hits.losses[0].breaks_off);
}

TEST_F(SpikesReader, ShrinkingFileBreaksOff) {
  for (const std::size_t size : {kFileHeader, offset_of_third(), offset_of_third() + 4, offset_of_third() + 42}) {
    const auto filler = to_bytes({0, 1000, std::vector<std::uint32_t>(65536, spike(1, 1)), 65536});
    const auto second = to_bytes({1, 1000, std::vector<std::uint32_t>(65536, spike(1, 1)), 65536});
    const auto reader = open(file_header(1000, 0) + filler + second);
    std::filesystem::resize_file(path_, kFileHeader + filler.size() + size);
    const auto hits = read_all(*reader);
    ASSERT_EQ(hits.losses.size(), 1U);
    EXPECT_TRUE(hits.losses[0].breaks_off);
    EXPECT_EQ(hits.size(), 65536U);
  }
}

TEST_F(SpikesReader, DamagedFileHeadersAreRefused) {
  for (std::size_t bit = 0; bit < kFileHeader * 8; ++bit) {
    auto file = three_packets();
    file[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_NE(error_of(file).find("cannot read '"), std::string::npos) << bit;
  }
  EXPECT_NE(error_of(file_header(0, 0)).find("a tick of 0 ps"), std::string::npos);
  EXPECT_NE(error_of(file_header(1000, 0x0fff0001)).find("above 268369920"), std::string::npos);
  EXPECT_NE(error_of(file_header(1000, 0, 2)).find("of version 2"), std::string::npos);
  EXPECT_THROW(open_spikes(SourceUri::parse("spikes:/nowhere.spikes"), {0}, kBase), UserError);
}

TEST_F(SpikesReader, BlocksStaySmallWhateverTheFile) {
  auto file = file_header(1000, 0) + to_bytes(kFirst);
  for (int i = 0; i < 5000; ++i) file = std::move(file) + to_bytes({0, 1, {}, 0});
  for (std::uint64_t i = 1; i < 100; ++i) {
    file = std::move(file) + to_bytes({i, i, std::vector<std::uint32_t>(1000, spike(0, 1)), 1000});
  }
  const auto reader = open(file);
  HitBlock block;
  std::size_t hits = 0;
  std::size_t losses = 0;
  while (reader->read(block)) {
    EXPECT_LE(block.size(), 17'500U);
    EXPECT_LE(block.losses.size(), 1024U);
    hits += block.size();
    losses += block.losses.size();
  }
  EXPECT_EQ(hits, 3U + 99'000U);
  EXPECT_EQ(losses, 5000U);
}

}  // namespace eventloom::test
