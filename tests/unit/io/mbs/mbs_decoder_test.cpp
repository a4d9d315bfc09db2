#include "io/mbs/mbs_decoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "mbs_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
using Found = MbsDecoder::Found;

/// The results of a decoder for `bytes`, passed to it in pieces.
struct Decoded {
  std::vector<Found> found;
  std::vector<std::string> buffers;  ///< in little-endian words
  std::vector<std::uint64_t> offsets;
  std::size_t largest_room = 0;
};

Found drain(MbsDecoder& decoder, Decoded& result) {
  for (;;) {
    const auto found = decoder.next();
    if (found == Found::nothing) return found;
    result.found.push_back(found);
    if (found == Found::garbage) return found;
    if (found != Found::buffer) continue;
    const auto& buffer = decoder.buffer();
    EXPECT_EQ(buffer.bytes.size(), buffer.length);
    result.buffers.emplace_back(reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size());
    result.offsets.push_back(buffer.offset);
  }
}

void feed(MbsDecoder& decoder, const std::string& bytes, std::size_t piece, Decoded& result) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto room = decoder.room();
    result.largest_room = std::max(result.largest_room, room.size());
    const std::size_t n = std::min({piece, bytes.size() - at, room.size()});
    std::memcpy(room.data(), bytes.data() + at, n);
    decoder.took(n);
    at += n;
    if (drain(decoder, result) == Found::garbage) return;
  }
}

Decoded decode(const std::string& bytes, std::size_t piece = 1U << 20) {
  MbsDecoder decoder(0);
  Decoded result;
  feed(decoder, bytes, piece, result);
  return result;
}

std::string decoder_error(const std::string& bytes) {
  MbsDecoder decoder(0);
  Decoded result;
  feed(decoder, bytes, bytes.size(), result);
  EXPECT_EQ(result.found.back(), Found::garbage);
  EXPECT_EQ(decoder.next(), Found::garbage) << "nothing after it is read";
  return decoder.defect();
}

std::vector<std::string> some_events(std::uint32_t n) {
  std::vector<std::string> events;
  for (std::uint32_t i = 1; i <= n; ++i) {
    events.push_back(event(i, subevent(0x01000000 + i, Words(i % 7 * 9, i)) + subevent(7, {i})));
  }
  return events;
}

TEST(MbsDecoder, HandshakeOfBothByteOrders) {
  for (const bool other : {false, true}) {
    MbsDecoder decoder(100);
    Decoded result;
    const auto bytes = handshake(16384, 8, 2);
    feed(decoder, other ? swapped(bytes) : bytes, 3, result);
    ASSERT_EQ(result.found, std::vector{Found::handshake});
    EXPECT_EQ(decoder.handshake().swapped, other);
    EXPECT_EQ(decoder.handshake().max_bytes, 16384U);
    EXPECT_EQ(decoder.handshake().buffers_per_reply(), 8U);
    EXPECT_FALSE(decoder.handshake().variable);
    EXPECT_EQ(decoder.offset(), 100U);
  }
}

TEST(MbsDecoder, RepliesOfDabcAreOneBuffer) {
  MbsDecoder decoder(0);
  Decoded result;
  feed(decoder, handshake(65536, 5, 0), 16, result);
  EXPECT_TRUE(decoder.handshake().variable);
  EXPECT_EQ(decoder.handshake().buffers_per_reply(), 1U);
}

TEST(MbsDecoder, HandshakesThatCannotBe) {
  EXPECT_NE(decoder_error("SSH-2.0-OpenSSH_9.2").find("byte-order mark"), std::string::npos);
  EXPECT_NE(decoder_error(handshake(16384, 8, 1, 2)).find("0x00000002"), std::string::npos);
  for (const auto& bytes :
       {handshake(63, 1, 1), handshake((64U << 20) + 1, 1, 1), handshake(0xffffffff, 1, 0), handshake(0, 1, 0),
        handshake(16384, 0, 1), handshake(16384, 0xffffffff, 1), handshake(16384, 1, 0x80000000)}) {
    EXPECT_NE(decoder_error(bytes).find("it offers buffers"), std::string::npos);
    EXPECT_NE(decoder_error(swapped(bytes)).find("it offers buffers"), std::string::npos);
  }
}

TEST(MbsDecoder, BuffersHoweverTheyAreCut) {
  const auto native = native_buffers(some_events(60), 512);
  const auto variable = variable_buffers(some_events(60), 300);
  for (const std::size_t piece : {1UL, 2UL, 5UL, 47UL, 511UL, 513UL, 100000UL}) {
    for (const bool is_native : {true, false}) {
      const auto& sent = is_native ? native : variable;
      const auto greeting = is_native ? handshake(512, 4, 1) : variable_handshake();
      const auto plain = decode(greeting + joined(sent), piece);
      EXPECT_EQ(plain.buffers, sent);
      EXPECT_EQ(plain.offsets[1], sent[0].size());
      const auto other = decode(swapped(greeting) + joined_swapped(sent), piece);
      EXPECT_EQ(other.buffers, sent);
      EXPECT_EQ(other.found.size(), sent.size() + 1);
    }
  }
}

TEST(MbsDecoder, EmptyBuffersAreSignsOfLife) {
  const auto empty = buffer({.size = 512}, "");
  const auto stale = with_count(buffer({.size = 512}, plain_event(1)), 0);
  const auto full = with_count(buffer({.size = 512}, plain_event(2)), 1);
  const std::vector expected = {Found::handshake, Found::empty, Found::empty, Found::buffer, Found::empty};
  EXPECT_EQ(decode(handshake(512, 1, 1) + empty + stale + full + empty).found, expected);
  const auto dabc = decode(variable_handshake() + variable_buffer("") + variable_buffer(plain_event(1)));
  EXPECT_EQ(dabc.found, (std::vector{Found::handshake, Found::empty, Found::buffer}))
      << "DABC does not count its events";
}

TEST(MbsDecoder, DisconnectIsSaidByANegativeCount) {
  const auto bye = with_count(buffer({.size = 512}, ""), 0xffffffff);
  EXPECT_EQ(decode(handshake(512, 1, 1) + bye).found, (std::vector{Found::handshake, Found::disconnect}));
  EXPECT_EQ(decode(swapped(handshake(512, 1, 1) + bye)).found.back(), Found::disconnect);
}

TEST(MbsDecoder, DamagedBuffersOfKnownLengthArePassed) {
  auto broken = native_buffers(some_events(60), 512);
  broken[1].replace(0, 48, std::string(48, '\xff'));
  const auto native = decode(handshake(512, 4, 1) + joined(broken));
  EXPECT_EQ(native.buffers.size(), broken.size());
  auto other_type = variable_buffers(some_events(60), 300);
  other_type[1][4] = 55;
  EXPECT_EQ(decode(variable_handshake() + joined(other_type)).buffers.size(), other_type.size());
}

TEST(MbsDecoder, LengthsThatCannotBeEndTheConnection) {
  auto sent = variable_buffers(some_events(60), 300);
  sent[2].replace(0, 4, "\xff\xff\xff\xff").replace(40, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(decode(variable_handshake() + joined(sent)).buffers.size(), 2U);
  EXPECT_NE(decoder_error(variable_handshake() + joined(sent)).find("8589934638 bytes"), std::string::npos);
  const auto larger = variable_buffer(std::string(1000, '\0'));
  EXPECT_EQ(decode(handshake(1047, 1, 0) + larger).found.back(), Found::garbage) << "larger than announced";
  EXPECT_EQ(decode(handshake(1048, 1, 0) + larger).found.back(), Found::buffer);
  EXPECT_EQ(decode(variable_handshake() + std::string(100, '\x55')).found.back(), Found::garbage);
}

TEST(MbsDecoder, MemoryFollowsWhatHasCome) {
  const auto native = handshake(64U << 20, 1, 1) + buffer_header({.size = 64U << 20});
  EXPECT_LE(decode(native + std::string(1000, 'x'), 100).largest_room, 1U << 20);
  const auto variable = handshake(64U << 20, 1, 0) + buffer_header({.size = 64U << 20, .used = 64U << 20, .type = 100});
  EXPECT_LE(decode(variable + std::string(1000, 'x'), 100).largest_room, 1U << 20);
}

TEST(MbsDecoder, WhatIsLeftOfABufferThatBreaksOff) {
  const auto sent = native_buffers(some_events(10), 512);
  for (const std::size_t left : {0UL, 1UL, 47UL, 48UL, 300UL, 511UL}) {
    MbsDecoder decoder(0);
    Decoded result;
    feed(decoder, handshake(512, 1, 1) + sent[0] + sent[1].substr(0, left), 1000, result);
    EXPECT_EQ(result.buffers.size(), 1U);
    EXPECT_EQ(decoder.unread(), left);
    ASSERT_EQ(decoder.cut(), left >= 48);
    if (left < 48) continue;
    EXPECT_EQ(decoder.buffer().bytes.size(), left);
    EXPECT_EQ(decoder.buffer().length, 512U);
    EXPECT_EQ(decoder.buffer().offset, 512U);
  }
}

}  // namespace
}  // namespace eventloom
