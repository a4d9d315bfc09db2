#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "io/udp/udp_port.hpp"

namespace eventloom::test {

namespace {

UdpPortSettings read(const std::string& text) { return UdpPortSettings::of(SourceUri::parse(text), {}); }

}  // namespace

TEST(UdpUri, BoardsAndPayloadAreRead) {
  const auto one = read("udp://127.0.0.1:7000");
  EXPECT_TRUE(one.sources.empty());
  EXPECT_FALSE(one.payload.any());
  const auto three = read("udp://[::1]:7000?sources=9,3,5&payload=2");
  EXPECT_EQ(three.sources, (std::vector<std::uint32_t>{9, 3, 5}));
  EXPECT_EQ(three.payload, PayloadTable::uniform(2));
  EXPECT_EQ(three.buffer_bytes, LiveInputSettings{}.buffer_bytes);
}

TEST(UdpUri, WhatIsNoListOfBoardsIsRefused) {
  for (const auto* wrong : {"sources=", "sources=3,", "sources=,3", "sources=a", "sources=3,3", "sources=4294967296",
                            "payload=255", "payload=x"}) {
    EXPECT_THROW(read(std::string("udp://:7000?") + wrong), UserError) << wrong;
  }
}

}  // namespace eventloom::test
