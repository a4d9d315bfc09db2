#include "io/spikes/spikes_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "core/runtime/error.hpp"
#include "io/spikes/spikes_reader.hpp"
#include "spike_bytes.hpp"

namespace eventloom::test {
namespace {

class SpikesWriterTest : public testing::Test {
 protected:
  SpikesWriterTest() : path_(testing::TempDir() + "writer_" + std::to_string(getpid()) + ".spikes") {}
  ~SpikesWriterTest() override { std::filesystem::remove(path_); }

  [[nodiscard]] Bytes file() const {
    std::ifstream in(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Bytes bytes;
    put_text(bytes, text);
    return bytes;
  }
  [[nodiscard]] HitBlock read_back() const {
    const auto reader = open_spikes(SourceUri::parse("spikes:" + path_), {0}, {});
    HitBlock all;
    HitBlock block;
    while (reader->read(block)) {
      EXPECT_TRUE(block.losses.empty());
      all.time.insert(all.time.end(), block.time.begin(), block.time.end());
      all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
    }
    return all;
  }
  /// The error from writing a spike after one at tick 10; empty if there is none.
  std::string error_of(Tick time, std::uint32_t channel) {
    SpikesWriter writer(path_, 1000, 100);
    writer.append(10, 100);
    try {
      writer.append(time, channel);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

  std::string path_;
};

}  // namespace

TEST_F(SpikesWriterTest, WritesTheBytesDrawn) {
  SpikesWriter writer(path_, 250, 100);
  writer.append(1000, 105);
  writer.append(1000, 100);
  writer.append(1000 + 0x7fff, 101);
  writer.append(1000 + 0x7fff + 0x8000, 100 + 65535);
  const auto summary = writer.finish();
  const Packet packet{0, 1000, {spike(0, 5), spike(0, 0), spike(0x7fff, 1), overflow(0x8000), spike(0, 65535)}, 4};
  EXPECT_EQ(file(), file_header(250, 100) + to_bytes(packet));
  EXPECT_EQ(summary.packets, 1U);
  EXPECT_EQ(summary.spikes, 4U);
  EXPECT_EQ(summary.bytes, file().size());
  EXPECT_EQ(summary.first_tick, Tick(1000));
  EXPECT_EQ(summary.last_tick, Tick(1000 + 0x7fff + 0x8000));
}

TEST_F(SpikesWriterTest, LongDistances) {
  constexpr Tick kFar(0x7fffffffULL + 0x7fff);
  SpikesWriter writer(path_, 1000, 0);
  writer.append(0, 1);
  writer.append(0x7fffffff, 2);
  writer.append(0x7fffffff + kFar, 3);
  writer.append(0x7fffffff + kFar + kFar + 1, 4);
  writer.finish();
  const Packet first{0, 0, {spike(0, 1), overflow(0x7fffffff), spike(0, 2), overflow(0x7fffffff), spike(0x7fff, 3)}, 3};
  const Packet second{1, 0x7fffffff + kFar.value + kFar.value + 1, {spike(0, 4)}, 1};
  EXPECT_EQ(file(), file_header(1000, 0) + to_bytes(first) + to_bytes(second));
}

TEST_F(SpikesWriterTest, PacketsAreAsLongAsAsked) {
  SpikesWriter writer(path_, 1000, 0, 3);
  for (const int time : {0, 1, 50'000, 50'001, 100'000, 150'000}) writer.append(Tick(time), 7);
  const auto summary = writer.finish();
  // The third entry stays free because the next spike needs two.
  const Packet first{0, 0, {spike(0, 7), spike(1, 7)}, 2};
  const Packet second{1, 50'000, {spike(0, 7), spike(1, 7)}, 2};
  const Packet third{2, 100'000, {spike(0, 7), overflow(50'000), spike(0, 7)}, 2};
  EXPECT_EQ(file(), file_header(1000, 0) + to_bytes(first) + to_bytes(second) + to_bytes(third));
  EXPECT_EQ(summary.packets, 3U);
}

TEST_F(SpikesWriterTest, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(7);
  for (const std::uint32_t entries : {2U, 3U, 44U, 4096U, 65536U}) {
    SpikesWriter writer(path_, 1000, 4096, entries);
    std::vector<Tick> time;
    std::vector<std::uint32_t> channel;
    Tick now(random() >> 20);
    for (int i = 0; i < 70'000; ++i) {
      now += Tick(random() >> (30 + random() % 34));
      time.push_back(now);
      channel.push_back(4096 + static_cast<std::uint32_t>(random() % 65536));
      writer.append(now, channel.back());
    }
    EXPECT_EQ(writer.finish().spikes, time.size());
    const auto hits = read_back();
    EXPECT_EQ(hits.time, time);
    EXPECT_EQ(hits.channel, channel);
  }
}

TEST_F(SpikesWriterTest, HighestTimesAndChannels) {
  SpikesWriter writer(path_, 1000, 0x0fff0000);
  writer.append(0, 0x0fff0000);
  writer.append(std::numeric_limits<Tick>::max(), 0x0fffffff);
  writer.finish();
  EXPECT_EQ(read_back().time, (std::vector<Tick>{0, std::numeric_limits<Tick>::max()}));
  EXPECT_EQ(read_back().channel, (std::vector<std::uint32_t>{0x0fff0000, 0x0fffffff}));
}

TEST_F(SpikesWriterTest, NothingAtAll) {
  EXPECT_EQ(SpikesWriter(path_, 1000, 5).finish().bytes, 32U);
  EXPECT_EQ(file(), file_header(1000, 5));
}

TEST_F(SpikesWriterTest, WhatDoesNotFitIsRefused) {
  EXPECT_NE(error_of(10, 99).find("channel 99 is not among the 65536 channels from 100 on"), std::string::npos);
  EXPECT_NE(error_of(10, 65636).find("channel 65636"), std::string::npos);
  EXPECT_NE(error_of(9, 100).find("tick 9 comes after one at 10"), std::string::npos);
  EXPECT_EQ(error_of(10, 65635), "");
  EXPECT_THROW(SpikesWriter(path_, 0, 0), UserError);
  EXPECT_THROW(SpikesWriter(path_, 1000, 0x0fff0001), UserError);
  EXPECT_THROW(SpikesWriter("/nowhere/x.spikes", 1000, 0), UserError);
}

TEST_F(SpikesWriterTest, UnfinishedFilesGo) {
  { SpikesWriter(path_, 1000, 0).append(1, 1); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
  SpikesWriter writer(path_, 1000, 0);
  EXPECT_TRUE(std::filesystem::exists(path_ + ".partial"));
  writer.finish();
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

}  // namespace eventloom::test
