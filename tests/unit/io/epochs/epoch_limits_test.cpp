#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/epochs/epochs_source.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

constexpr Epoch kFar = Epoch(std::uint64_t{1} << 40);
constexpr EpochRange kAll{0, std::numeric_limits<Epoch>::max()};

using EpochLimits = EpochFiles;

SliceData all_of(EpochsSource& source) {
  SliceData data;
  source.collect(kAll, data);
  return data;
}

TEST_F(EpochLimits, TakesTheLastEpochThatHasTicks) {
  StreamMaker maker;
  maker.add(3, 5);
  maker.add(kLastEpoch, 2);
  EpochsSource source(write(maker.with_index()));
  EXPECT_EQ(source.index_state(), IndexState::good);
  EXPECT_EQ(hits_in(all_of(source)), 7U);
  EXPECT_EQ(source.end_epoch(), kLastEpoch + 1);
}

/// Epochs without ticks at the beginning, between others, and at the end.
TEST_F(EpochLimits, EpochsWithoutTicksAreDamage) {
  for (const Epoch bad : {kLastEpoch + 1, std::numeric_limits<Epoch>::max() - 3}) {
    for (const std::size_t place : {0UL, 1UL, 2UL}) {
      for (const bool with_index : {false, true}) {
        StreamMaker maker;
        for (std::size_t i = 0; i < 3; ++i) maker.add(i == place ? bad : Epoch(10 * i), 4);
        EpochsSource source(write(with_index ? maker.with_index() : maker.without_index()));
        const std::string what =
            "epoch " + std::to_string(bad.value) + " in place " + std::to_string(place) + (with_index ? ", index" : "");
        const auto data = all_of(source);
        EXPECT_EQ(source.index_state(), with_index ? IndexState::damaged : IndexState::missing) << what;
        EXPECT_EQ(hits_in(data), 8U) << what;
        EXPECT_EQ(source.hits_read(), 12U) << what;
        ASSERT_EQ(data.damage.size(), 1U) << what;
        EXPECT_EQ(data.damage[0].n_hits, 4U) << what;
        EXPECT_EQ(data.damage[0].cause, DropCause::corrupt) << what;
        EXPECT_EQ(source.tail_damage().has_value(), place == 2) << what;
        EXPECT_LE(source.end_epoch(), Epoch(21)) << what;
      }
    }
  }
}

/// Number 1 is missing and number 2 has no time: all of their hits are accounted for once.
TEST_F(EpochLimits, EpochsWithoutTicksAfterAGapAreCounted) {
  StreamMaker maker;
  maker.add(0, 4);
  maker.add(make_buffer(kLastEpoch + 7, 5, 2, 4 + 3));
  maker.add(make_buffer(30, 2, 3, 4 + 3 + 5));
  EpochsSource source(write(maker.without_index()));
  const auto data = all_of(source);
  EXPECT_EQ(hits_in(data), 6U);
  EXPECT_EQ(hits_lost_in(data), 8U);
  EXPECT_EQ(source.hits_read(), 14U);
  SliceData between;
  source.collect({20, 21}, between);
  EXPECT_EQ(between.damage.size(), 1U) << "the times of these hits are unknown";
}

TEST_F(EpochLimits, ACutBufferOfEpochsWithoutTicksIsDamageOfTheEnd) {
  StreamMaker maker;
  maker.add(0, 4);
  maker.add(kLastEpoch + 7, 50);
  auto file = maker.without_index();
  file.resize(file.size() - 16);
  EpochsSource source(write(file));
  EXPECT_EQ(source.hits_read(), 54U);
  ASSERT_TRUE(source.tail_damage());
  EXPECT_EQ(source.tail_damage()->first_epoch, Epoch(1));
  EXPECT_EQ(source.end_epoch(), Epoch(2));
}

TEST_F(EpochLimits, ATrailerOfOtherHitsIsADamagedIndex) {
  StreamMaker maker;
  maker.add(0, 4);
  maker.add(1, 3);
  EpochsSource source(write(maker.with_index(1)));
  EXPECT_EQ(source.index_state(), IndexState::damaged);
  EXPECT_EQ(source.hits_read(), 7U);
}

TEST_F(EpochLimits, NamesWhereTheNextBufferBegins) {
  StreamMaker maker;
  maker.add(2, 4);
  maker.add(kFar, 3);
  EpochsSource source(write(maker.with_index()));
  EXPECT_EQ(source.next_beginning(0), Epoch(2));
  EXPECT_EQ(source.next_beginning(2), Epoch(2));
  EXPECT_EQ(source.next_beginning(3), kFar);
  EXPECT_EQ(source.next_beginning(kFar + 1), std::nullopt);
}

TEST_F(EpochLimits, NamesWhereTheNextDamageBegins) {
  StreamMaker maker;
  maker.add(2, 4);
  maker.add(make_buffer(kFar, 3, 2, 9));  // number 1 is missing
  EpochsSource source(write(maker.without_index()));
  EXPECT_EQ(source.next_beginning(0), Epoch(2));
  EXPECT_EQ(source.next_beginning(3), Epoch(3)) << "the damage";
  EXPECT_EQ(source.next_beginning(4), kFar);
}

/// Which damage a range shows does not depend on what was forgotten before it.
TEST_F(EpochLimits, ForgetsDamageThatIsOver) {
  StreamMaker maker;
  for (Epoch i = 0; i < 40; i += 2) maker.add(make_buffer(10 * i, 1, i.value, i.value));
  const auto path = write(maker.without_index());
  EpochsSource source(path);
  EpochsSource whole(path);
  for (Epoch at = 0; at < 400; at += 7) {
    SliceData expected;
    SliceData data;
    whole.collect({at, at + 9}, expected);
    source.collect({at, at + 9}, data);
    EXPECT_EQ(data.damage.size(), expected.damage.size()) << at.value;
    EXPECT_FALSE(data.damage.empty() && at % 20 > 1 && at < 380) << at.value;
    source.release_before(at + 7);
  }
}

}  // namespace
}  // namespace eventloom::test
