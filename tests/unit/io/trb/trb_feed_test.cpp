#include "io/trb/trb_feed.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "formats/epoch_buffer.hpp"
#include "io/trb/trb_options.hpp"
#include "io/trb/trb_reader.hpp"
#include "io/udp/udp_address.hpp"
#include "trb_maker.hpp"

namespace eventloom::test {
namespace {

constexpr TimeBase kNumbers{1000, 16};

class Sender {
 public:
  explicit Sender(std::uint16_t port) {
    const auto to = resolve_udp("127.0.0.1:" + std::to_string(port));
    socket_ = ::socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to.address), to.length), 0);
  }
  ~Sender() { ::close(socket_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void send(const Bytes& bytes) const {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void send(std::uint32_t first, std::uint32_t end) const {
    for (auto number = first; number < end; ++number) send(datagram(subevent(number)));
  }

 private:
  int socket_ = -1;
};

TrbReader reader_of(const std::string& keys = "") {
  const auto uri = SourceUri::parse("trb://127.0.0.1:0" + keys);
  return {uri.path(), parse_trb_options(uri, SourceId{2}, kNumbers), std::size_t{1} << 20};
}

/// Combines the blocks of a reader until `n` hits have arrived or it ends.
struct Read {
  std::vector<Tick> times;
  std::uint64_t lost = 0;

  bool take(TrbReader& reader, std::size_t n) {
    HitBlock block;
    while (times.size() < n) {
      if (!reader.read(block)) return false;
      times.insert(times.end(), block.time.begin(), block.time.end());
      for (const auto& loss : block.losses) lost += loss.hits;
    }
    return true;
  }
};

TEST(TrbReader, NothingIsGivenBeforeTheRunBegins) {
  auto reader = reader_of();
  const Sender to(reader.port());
  to.send(100, 120);
  HitBlock block;
  while (!reader.held_from()) ASSERT_TRUE(reader.read(block));
  EXPECT_EQ(block.size(), 0U);
  EXPECT_EQ(reader.held_from(), Tick(100));
  reader.begin_at(96);
  Read read;
  ASSERT_TRUE(read.take(reader, 20));
  EXPECT_EQ(read.times.front(), Tick(100));
  EXPECT_FALSE(reader.held_from());
  EXPECT_TRUE(reader.is_connected());
}

TEST(TrbReader, TheFirstNumberIsTheOneNearestToTheBeginning) {
  constexpr Tick kRange = Tick(std::uint64_t{1} << 24);
  for (const Tick begin : {Tick{0}, Tick{90}, kRange - 500, kRange + 7, 5 * kRange}) {
    auto reader = reader_of();
    const Sender to(reader.port());
    to.send(100, 120);
    HitBlock block;
    while (!reader.held_from()) ASSERT_TRUE(reader.read(block));
    reader.begin_at(begin);
    Read read;
    ASSERT_TRUE(read.take(reader, 20));
    EXPECT_EQ(read.times.front(), 100 + (begin + kRange / 2) / kRange * kRange) << begin.value;
  }
}

TEST(TrbReader, ABoardThatComesLateIsWhereTheOthersAre) {
  auto reader = reader_of("?bits=16");
  reader.begin_at(0);
  reader.others_at(3 * 65536);
  const Sender to(reader.port());
  to.send(65530, 65536);
  to.send(0, 6);
  Read read;
  ASSERT_TRUE(read.take(reader, 12));
  EXPECT_EQ(read.times.front(), Tick(3 * 65536 - 6));
  EXPECT_EQ(read.times.back(), Tick(3 * 65536 + 5));
}

TEST(TrbReader, TheEndTakesWhatHasArrived) {
  auto reader = reader_of();
  reader.begin_at(0);
  const Sender to(reader.port());
  to.send(0, 100);
  to.send(102, 103);
  to.send({});
  reader.stop();
  Read read;
  EXPECT_FALSE(read.take(reader, 1000));
  EXPECT_EQ(read.times.size(), 101U);
  EXPECT_EQ(read.lost, 2U);
  EXPECT_EQ(reader.counts().counters[Metric::malformed], 1U);
  EXPECT_EQ(reader.counts().counters[Metric::datagrams], 102U);
  EXPECT_FALSE(reader.is_connected());
}

TEST(TrbReader, WhatAnOptionalBoardLacksIsNoLoss) {
  for (const bool optional : {false, true}) {
    auto reader = reader_of(optional ? "?optional" : "");
    reader.begin_at(0);
    const Sender to(reader.port());
    to.send(10, 12);
    to.send(310, 312);
    Read read;
    ASSERT_TRUE(read.take(reader, 4));
    EXPECT_EQ(read.times, (std::vector<Tick>{10, 11, 310, 311}));
    EXPECT_EQ(read.lost, optional ? 0U : 298U);
  }
}

TEST(TrbReader, PayloadIsThatOfAnHldFile) {
  auto reader = reader_of();
  reader.begin_at(0);
  const Sender to(reader.port());
  to.send(datagram(subevent(7, 2, 0x55)));
  to.send(datagram(subevent(8, 0, 0xaa)));
  HitBlock block;
  while (block.size() == 0) ASSERT_TRUE(reader.read(block));
  ASSERT_EQ(block.size(), 2U);
  EXPECT_EQ(block.channel, (std::vector<std::uint32_t>{0x8000, 0x8000}));
  const auto first = block.payload_of(0);
  EXPECT_EQ(std::vector(first.begin(), first.end()),
            (std::vector<std::uint32_t>{9, 1U << 16 | 1, 0x2001, 7, 24, 0x20011, 0x8000, 7U << 8 | 0x55, 7, 8}));
  EXPECT_EQ(block.payload_of(1)[7], 8U << 8 | 0xaa);
  EXPECT_EQ(tag_word(reader.header().flags), 8U);
}

TEST(TrbFeed, EndsWithWhatItHasReceived) {
  LiveInputSettings settings;
  settings.buffer_bytes = std::size_t{1} << 20;
  const auto feed = open_trb(SourceUri::parse("trb://127.0.0.1:0?optional"), SourceId{2}, kNumbers, settings);
  EXPECT_EQ(feed->header().flags & kOptional, kOptional);
  EXPECT_EQ(feed->wraps_after(), (Epoch(std::uint64_t{1} << 24)) / 16);
  feed->stop();
  FeedBatch batch;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!batch.ended && std::chrono::steady_clock::now() < end) feed->take(batch);
  EXPECT_TRUE(batch.ended);
  EXPECT_TRUE(batch.buffers.empty());
}

}  // namespace
}  // namespace eventloom::test
