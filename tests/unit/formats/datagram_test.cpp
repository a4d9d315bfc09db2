#include <gtest/gtest.h>

#include <cstring>

#include "formats/datagram_reply.hpp"

namespace eventloom::test {

namespace {

using Bytes = std::vector<std::byte>;

Bytes composed(DatagramHeader header, std::size_t contents) {
  Bytes bytes(sizeof header + contents);
  compose_datagram(header, Bytes(contents, std::byte{7}), bytes);
  return bytes;
}

bool is_read(const DatagramHeader& header, std::size_t contents) {
  return read_datagram(composed(header, contents)).has_value();
}

}  // namespace

TEST(Datagram, LayoutIsAsDrawn) {
  DatagramHeader header;
  header.source = 0x01020304;
  header.session = 5;
  header.offset = 6;
  header.sequence = 7;
  header.buffer_bytes = 80;
  const auto bytes = composed(header, 2);
  // The bytes from number 8 on.
  const std::vector<unsigned char> expected = {1, 2, 0, 0, 4, 3, 2, 1,  5, 0, 0, 0, 6, 0, 0, 0, 7,
                                               0, 0, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, 7, 7};
  ASSERT_EQ(bytes.size(), 42U);
  EXPECT_EQ(std::memcmp(bytes.data(), "ELVD", 4), 0);
  ASSERT_EQ(expected.size(), 34U);
  EXPECT_EQ(std::memcmp(bytes.data() + 8, expected.data(), expected.size()), 0);
}

TEST(Datagram, EveryBitIsUnderTheChecksum) {
  DatagramHeader header;
  header.buffer_bytes = 80;
  const auto good = composed(header, 30);
  ASSERT_TRUE(read_datagram(good));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto flipped = good;
    flipped[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_FALSE(read_datagram(flipped)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(read_datagram(std::span(good).first(size)));
}

TEST(Datagram, FragmentsLieInsideTheirBuffer) {
  DatagramHeader header;
  const auto fits = [&](std::uint32_t whole, std::uint32_t offset, std::size_t bytes) {
    header.buffer_bytes = whole;
    header.offset = offset;
    return is_read(header, bytes);
  };
  EXPECT_TRUE(fits(80, 0, 80));
  EXPECT_TRUE(fits(80, 79, 1));
  EXPECT_FALSE(fits(80, 79, 2));
  EXPECT_FALSE(fits(80, 80, 0));
  EXPECT_FALSE(fits(80, 0xffffffff, 8));
  EXPECT_FALSE(fits(56, 0, 56));
  EXPECT_FALSE(fits(84, 0, 84));
  EXPECT_TRUE(fits(kMaxSentBufferBytes, 8, 8));
  EXPECT_FALSE(fits(kMaxSentBufferBytes + 8, 8, 8));
}

TEST(Datagram, WhatIsNotDrawnIsRefused) {
  DatagramHeader mark;
  mark.kind = DatagramKind::mark;
  EXPECT_TRUE(is_read(mark, 16));
  EXPECT_FALSE(is_read(mark, 15));
  EXPECT_FALSE(is_read(mark, 17));
  const auto changed = [&](auto&& change) {
    auto header = mark;
    change(header);
    return is_read(header, 16);
  };
  EXPECT_FALSE(changed([](auto& h) { h.magic ^= 1; }));
  EXPECT_FALSE(changed([](auto& h) { h.version = 2; }));
  EXPECT_FALSE(changed([](auto& h) { h.kind = DatagramKind{0}; }));
  EXPECT_FALSE(changed([](auto& h) { h.kind = DatagramKind{5}; }));
  EXPECT_FALSE(changed([](auto& h) { h.reserved = 1; }));
  EXPECT_FALSE(changed([](auto& h) { h.reserved_too = 1; }));
  EXPECT_FALSE(changed([](auto& h) { h.offset = 1; }));
  EXPECT_FALSE(changed([](auto& h) { h.buffer_bytes = 80; }));
}

TEST(Datagram, HeadersFitWithTheirTextCut) {
  DatagramStream stream;
  stream.started_ns = 123;
  stream.header.source = 9;
  stream.header.payload = PayloadTable::uniform(2);
  stream.header.text = std::string(5000, 'x');
  for (const std::size_t most : {kMinHeaderDatagramBytes, std::size_t{1400}, std::size_t{1401}, kMaxDatagramBytes}) {
    const auto contents = encode_datagram_stream(stream, most);
    EXPECT_LE(contents.size() + sizeof(DatagramHeader), most);
    DatagramHeader header;
    header.kind = DatagramKind::header;
    Bytes bytes(sizeof header + contents.size());
    compose_datagram(header, contents, bytes);
    const auto datagram = read_datagram(bytes);
    ASSERT_TRUE(datagram);
    const auto read = stream_of(*datagram);
    EXPECT_EQ(read.started_ns, 123);
    EXPECT_EQ(read.header.source, 9U);
    EXPECT_EQ(read.header.payload, stream.header.payload);
    EXPECT_TRUE(stream.header.text.starts_with(read.header.text));
  }
}

TEST(Datagram, TheStreamHeaderStatesWhetherRequestsAreTaken) {
  for (const bool resends : {false, true}) {
    DatagramStream stream;
    stream.resends = resends;
    auto contents = encode_datagram_stream(stream, 1400);
    // 8 bytes after the padded header: "ELXT", 1.
    EXPECT_EQ(contents.size(), 8U + 128U + (resends ? 8U : 0U));
    EXPECT_EQ(stream_of({.header = {}, .contents = contents}).resends, resends);
    if (!resends) continue;
    EXPECT_EQ(contents[contents.size() - 4], std::byte{1});
    EXPECT_FALSE(stream_of({.header = {}, .contents = contents}).begins);
    contents[contents.size() - 4] = std::byte{3};
    EXPECT_TRUE(stream_of({.header = {}, .contents = contents}).begins);
    contents[contents.size() - 4] = std::byte{2};
    EXPECT_FALSE(stream_of({.header = {}, .contents = contents}).resends) << "another capability";
    contents.pop_back();
    EXPECT_FALSE(stream_of({.header = {}, .contents = contents}).resends) << "cut";
  }
}

TEST(Datagram, RepliesAreNotOfAStreamAndStreamsAreNoReplies) {
  const MissingPiece piece{.sequence = 4, .begin = 100, .end = 200};
  for (int kind = 0; kind < 256; ++kind) {
    DatagramHeader header{.kind = static_cast<DatagramKind>(kind)};
    Bytes bytes(sizeof header + sizeof piece);
    compose_datagram(header, std::as_bytes(std::span(&piece, 1)), bytes);
    EXPECT_FALSE(read_datagram(bytes) && read_reply(bytes)) << kind;
    const auto reply = read_reply(bytes);
    EXPECT_EQ(bool(reply), kind == 5 || kind == 6) << kind;
    if (kind == 5) {
      EXPECT_EQ(missing_pieces_of(*reply), std::vector{piece});
    }
    bytes.back() ^= std::byte{1};
    EXPECT_FALSE(read_reply(bytes)) << "a wrong checksum";
  }
}

TEST(Datagram, NothingIsAskedOfTheAlignment) {
  DatagramHeader header;
  header.kind = DatagramKind::end;
  const DatagramMark mark{11, 12};
  Bytes bytes(1 + sizeof header + sizeof mark);
  compose_datagram(header, std::as_bytes(std::span(&mark, 1)), std::span(bytes).subspan(1));
  const auto datagram = read_datagram(std::span(bytes).subspan(1));
  ASSERT_TRUE(datagram);
  EXPECT_EQ(mark_of(*datagram), mark);
}

}  // namespace eventloom::test
