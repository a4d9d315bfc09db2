#include "io/hld/trb_tdc.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace eventloom {
namespace {

constexpr std::uint32_t kHeaderWord = 0x20000000;
constexpr std::uint32_t kEpochWord = 0x60000000;
constexpr std::uint32_t kTimeWord = 0x80000000;
constexpr std::uint32_t kDebug = 0x40000000;

std::uint32_t head(std::uint32_t words, std::uint32_t address) { return words << 16 | address; }

/// Addresses of the hits in `words`.
std::vector<std::uint32_t> addresses_of(const std::vector<std::uint32_t>& words, std::string_view list = "") {
  TrbTdcDecoder decoder{TdcAddresses(list)};
  decoder.decode(words);
  std::vector<std::uint32_t> addresses;
  for (const auto& hit : decoder.hits()) addresses.push_back(hit.address);
  return addresses;
}

using Words = std::vector<std::uint32_t>;

TEST(TrbTdc, TimesBelongToTheEpochBeforeThem) {
  TrbTdcDecoder decoder{TdcAddresses()};
  decoder.decode(Words{head(6, 0xe000), kHeaderWord, kEpochWord | 5, kTimeWord | 1, kEpochWord | 0x0ffffff,
                       kTimeWord | 2, kTimeWord | 3, head(3, 0xe001), kHeaderWord, kEpochWord | 9, kTimeWord | 4,
                       head(1, 0x5555), 1});
  const auto hits = decoder.hits();
  ASSERT_EQ(hits.size(), 4U);
  EXPECT_EQ(hits[0].epoch, 5U);
  EXPECT_EQ(hits[0].word, kTimeWord | 1);
  EXPECT_EQ(hits[0].place, 3U);
  EXPECT_EQ(hits[1].epoch, 0x0ffffffU);
  EXPECT_EQ(hits[2].epoch, 0x0ffffffU);
  EXPECT_EQ(hits[3].epoch, 9U);
  EXPECT_EQ(hits[3].address, 0xe001U);
  EXPECT_TRUE(decoder.faults().empty());
}

TEST(TrbTdc, TdcsAreRecognisedByTheirWords) {
  EXPECT_EQ(addresses_of({head(3, 0x0123), kHeaderWord, kEpochWord, kTimeWord}), Words{0x0123});
  EXPECT_EQ(addresses_of({head(5, 0xe000), kHeaderWord, kDebug, kEpochWord, kTimeWord, 0}), Words{0xe000});
  // A trigger system's subevent begins alike, but counters follow.
  EXPECT_TRUE(addresses_of({head(4, 0x8000), 0x2006f0b7, 0x600001c4, 0x8dc8467a, 0x00000007, head(0, 1)}).size() <= 1);
  EXPECT_EQ(addresses_of({head(5, 0x8000), 0x2006f0b7, 0x600001c4, 0, 0x8dc8467a, 0}), Words{});
  EXPECT_EQ(addresses_of({head(3, 0xe000), 0x00000001, kEpochWord, kTimeWord}), Words{});
  EXPECT_EQ(addresses_of({head(0, 0xe000), head(1, 0xe000), kHeaderWord}), Words{});
}

TEST(TrbTdc, AListOfAddressesDecides) {
  const Words words = {head(3, 0xe000), kHeaderWord, kEpochWord,      kTimeWord,  head(2, 0x8001),
                       kEpochWord,      kTimeWord,   head(2, 0xe010), kEpochWord, kTimeWord};
  EXPECT_EQ(addresses_of(words), (Words{0xe000}));
  EXPECT_EQ(addresses_of(words, "yes"), (Words{0xe000}));
  EXPECT_EQ(addresses_of(words, "0x8001"), (Words{0x8001}));
  EXPECT_EQ(addresses_of(words, "0xe001-0xE010,0x8001"), (Words{0x8001, 0xe010}));
  EXPECT_EQ(addresses_of(words, "0x0-0xffff"), (Words{0xe000, 0x8001, 0xe010}));
  EXPECT_EQ(addresses_of(words, "0x1"), Words{});
}

TEST(TrbTdc, ListsThatMakeNoSense) {
  for (const auto* list : {"e000", "0x", "0x10000", "0xe000-", "0xe001-0xe000", "0xe000,", ",", "0xe000 ", "no"}) {
    EXPECT_THROW(TdcAddresses{list}, std::invalid_argument) << list;
  }
}

TEST(TrbTdc, ATimeWithoutAnEpochIsLost) {
  TrbTdcDecoder decoder{TdcAddresses()};
  decoder.decode(Words{head(3, 0xe000), kHeaderWord, kEpochWord, kTimeWord, head(4, 0xe001), kHeaderWord, kTimeWord,
                       kEpochWord, kTimeWord});
  EXPECT_EQ(decoder.hits().size(), 2U);
  ASSERT_EQ(decoder.faults().size(), 1U);
  const auto& fault = decoder.faults()[0];
  EXPECT_EQ(fault.kind, TdcFault::Kind::no_epoch);
  EXPECT_EQ(fault.address, 0xe001U);
  EXPECT_EQ(fault.place, 6U);
  EXPECT_EQ(fault.hits, 1U);
  EXPECT_EQ(fault.hits_before, 1U);
}

TEST(TrbTdc, AnAnnouncementOfTooManyWordsLosesTheRest) {
  TrbTdcDecoder decoder{TdcAddresses()};
  decoder.decode(Words{head(3, 0xe000), kHeaderWord, kEpochWord, kTimeWord, head(9, 0xe000), kHeaderWord, kEpochWord,
                       kTimeWord, kTimeWord});
  EXPECT_EQ(decoder.hits().size(), 1U);
  ASSERT_EQ(decoder.faults().size(), 1U);
  EXPECT_EQ(decoder.faults()[0].kind, TdcFault::Kind::cut);
  EXPECT_EQ(decoder.faults()[0].place, 4U);
  EXPECT_EQ(decoder.faults()[0].hits, 2U);
  decoder.decode(Words{head(0xffff, 0x1)});
  EXPECT_EQ(decoder.faults().size(), 1U);
}

TEST(TrbTdc, ATdcThatIsKnownRemainsOneWhenAWordIsDamaged) {
  TrbTdcDecoder decoder{TdcAddresses()};
  decoder.decode(Words{head(3, 0xe000), kHeaderWord, kEpochWord, kTimeWord});
  decoder.decode(Words{head(5, 0xe000), kHeaderWord, kEpochWord, kTimeWord, 0x00000001, kTimeWord});
  EXPECT_EQ(decoder.hits().size(), 2U);
  ASSERT_EQ(decoder.faults().size(), 1U);
  EXPECT_EQ(decoder.faults()[0].kind, TdcFault::Kind::unknown_word);
}

TEST(TrbTdc, FaultsDoNotGrowWithTheDamage) {
  Words words = {head(60000, 0xe000)};
  for (int i = 0; i < 30000; ++i) words.insert(words.end(), {0x00000001, kTimeWord});
  TrbTdcDecoder decoder{TdcAddresses("0xe000")};
  decoder.decode(words);
  EXPECT_LE(decoder.faults().size(), 102U);
  std::uint64_t hits = 0;
  std::uint64_t count = 0;
  for (const auto& fault : decoder.faults()) {
    hits += fault.hits;
    count += fault.count;
  }
  EXPECT_EQ(hits, 30000U);
  EXPECT_EQ(count, 60000U);
}

TEST(TdcClock, CountsInStepsOfFiveNanoseconds) {
  TdcClock clock(1000);
  EXPECT_EQ(clock.ticks({.word = kTimeWord | 0xfff803ff, .epoch = 0}), Tick(0x3ff * 5));
  EXPECT_EQ(clock.ticks({.word = kTimeWord | 7, .epoch = 2}), Tick((2 * 2048 + 7) * 5));
  TdcClock fine(250);
  EXPECT_EQ(fine.ticks({.word = kTimeWord | 1, .epoch = 1}), Tick(2049 * 20));
  TdcClock coarse(5000);
  EXPECT_EQ(coarse.ticks({.word = kTimeWord | 1, .epoch = 1}), Tick(2049));
}

TEST(TdcClock, RefusesTicksThatDoNotDivideItsStep) {
  EXPECT_THROW(TdcClock(3000), std::invalid_argument);
  EXPECT_THROW(TdcClock(10000), std::invalid_argument);
}

TEST(TdcClock, TheEpochCounterContinuesWhereItIsNearest) {
  constexpr std::uint64_t kPeriod = 1U << 28;
  TdcClock clock(5000);
  const auto epoch = [&clock](std::uint32_t counter) {
    return clock.ticks({.word = kTimeWord, .epoch = counter})->value >> 11;
  };
  EXPECT_EQ(epoch(kPeriod - 2), kPeriod - 2);
  EXPECT_EQ(epoch(1), kPeriod + 1);
  EXPECT_EQ(epoch(kPeriod - 1), kPeriod - 1);
  EXPECT_EQ(epoch(3), kPeriod + 3);
  EXPECT_EQ(epoch(100), kPeriod + 100);
  EXPECT_EQ(epoch(90), kPeriod + 90);
}

TEST(TdcClock, NeverGoesBeforeZeroNorBeyondSixtyFourBits) {
  TdcClock clock(1);
  EXPECT_EQ(clock.ticks({.word = kTimeWord, .epoch = 0}), Tick(0));
  EXPECT_TRUE(clock.ticks({.word = kTimeWord, .epoch = 0x0fffffff}).has_value());
  bool ended = false;
  Tick last = 0;
  for (std::uint32_t i = 0; i < 1U << 16 && !ended; ++i) {
    const auto time = clock.ticks({.word = kTimeWord, .epoch = (i * 0x07ffffffU) & 0x0fffffffU});
    ended = !time;
    if (time && *time < last) {
      EXPECT_LT(last - *time, Tick(std::uint64_t{1} << 60)) << "it has wrapped";
    }
    last = time.value_or(last);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace eventloom
