#include "io/mbs/mbs_address.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

MbsAddress address(const std::string& path) { return MbsAddress::of(SourceUri::of_path("lmd", path)); }

TEST(MbsAddress, DefaultPorts) {
  const auto transport = address("//daq7.example/transport");
  EXPECT_EQ(transport.host, "daq7.example");
  EXPECT_EQ(transport.port, "6000");
  EXPECT_EQ(transport.service, MbsService::transport);
  EXPECT_EQ(transport.text, "mbs://daq7.example/transport");
  const auto stream = address("//10.0.0.7/stream");
  EXPECT_EQ(stream.port, "6002");
  EXPECT_EQ(stream.service, MbsService::stream);
  EXPECT_EQ(address("//10.0.0.7:65535/stream").port, "65535");
}

TEST(MbsAddress, IPv6InBrackets) {
  EXPECT_EQ(address("//[::1]/transport").host, "::1");
  EXPECT_EQ(address("//[::1]/transport").port, "6000");
  EXPECT_EQ(address("//[fe80::1]:7000/stream").port, "7000");
}

TEST(MbsAddress, WhatItIsNot) {
  for (const auto* path : {"",
                           "/",
                           "//",
                           "host",
                           "host/transport",
                           "//host",
                           "//host/",
                           "//host/event",
                           "//host/stream/",
                           "///stream",
                           "//:6000/stream",
                           "//host:/stream",
                           "//host:0/stream",
                           "//host:65536/stream",
                           "//host:6x/stream",
                           "//::1/stream",
                           "//[::1/stream",
                           "//[]/stream",
                           "//[::1]6000/stream",
                           "//[::1]:/stream",
                           "//host:1:2/stream"}) {
    EXPECT_THROW(address(path), UserError) << path;
  }
}

}  // namespace
}  // namespace eventloom
