#include "io/lmd/lmd_repeats.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

LmdRepeats after(std::uint32_t first, std::uint32_t events, Tick step) {
  LmdRepeats repeats;
  for (std::uint32_t i = 0; i < events; ++i) repeats.keep(first + i, 1000 + step * i);
  return repeats;
}

TEST(LmdRepeats, NothingRepeatsInOneStream) {
  auto repeats = after(1, 10, 10);
  EXPECT_FALSE(repeats.repeats(1, 1000));
}

TEST(LmdRepeats, WhatWasThereBeforeItRestarted) {
  auto repeats = after(1, 10, 10);
  repeats.restart();
  EXPECT_TRUE(repeats.repeats(1, 1000));
  EXPECT_TRUE(repeats.repeats(10, 1090));
  EXPECT_TRUE(repeats.repeats(5, std::nullopt)) << "an event without a time";
  EXPECT_FALSE(repeats.repeats(11, 1050)) << "was missed, and is only late";
  EXPECT_FALSE(repeats.repeats(1, 1091)) << "of a new run";
}

TEST(LmdRepeats, NumbersWrapAround) {
  auto repeats = after(0xfffffffa, 10, 10);
  repeats.restart();
  EXPECT_TRUE(repeats.repeats(0xfffffffa, 1000));
  EXPECT_TRUE(repeats.repeats(3, 1090));
  EXPECT_FALSE(repeats.repeats(4, 1000));
}

TEST(LmdRepeats, AnEventThatWasTakenBackDoesNotCount) {
  auto repeats = after(1, 10, 10);
  repeats.keep(11, 1'000'000'000);
  repeats.take_back();
  repeats.restart();
  EXPECT_FALSE(repeats.repeats(11, 1100));
  EXPECT_FALSE(repeats.repeats(10, 1100));
  EXPECT_TRUE(repeats.repeats(10, 1090));
}

TEST(LmdRepeats, NumbersThatFollowARestartRevealMissingEvents) {
  auto repeats = after(0xfffffff0, 14, 10);
  EXPECT_EQ(repeats.missing_before(5), 0U) << "no restart";
  repeats.restart();
  EXPECT_EQ(repeats.missing_before(2), 4U) << "0xfffffffe to 1";
  EXPECT_EQ(repeats.missing_before(7), 0U) << "counted only once";
  repeats.restart();
  EXPECT_EQ(repeats.missing_before(0xfffffffe), 0U) << "the next";
  repeats.restart();
  EXPECT_EQ(repeats.missing_before(0x80000000), 0U) << "other numbers";
}

TEST(LmdRepeats, OfTheLatestConnectionToo) {
  auto repeats = after(1, 10, 10);
  repeats.restart();
  repeats.keep(11, 1200);
  EXPECT_FALSE(repeats.repeats(11, 1200));
  repeats.restart();
  EXPECT_TRUE(repeats.repeats(11, 1200));
}

}  // namespace
}  // namespace eventloom
