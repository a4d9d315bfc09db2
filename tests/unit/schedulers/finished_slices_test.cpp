// The assignment of slices if some of them are finished already.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/slice_set.hpp"
#include "schedulers/claim_book.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom {
namespace {

constexpr std::uint32_t kBuilders = 3;

std::unique_ptr<Scheduler> scheduler_of(const std::string& name, std::uint64_t first) {
  ScheduleSettings settings;
  settings.name = name;
  settings.n_sources = 2;
  settings.n_builders = kBuilders;
  settings.first_slice = {first};
  return make_scheduler(settings);
}

/// 0 to 9, 12, 14, 16, 18 and 30 to 34.
SliceSet some_finished() { return {{10}, std::vector<SliceRun>{{12, 2, 4}, {30, 1, 5}}}; }

/// Each unfinished slice goes to exactly one builder: the one that would have received it anyway.
TEST(NextUnfinished, LeavesOutWhatIsFinished) {
  for (const char* name : {"round-robin", "chaotic", "unshifted"}) {
    const auto scheduler = scheduler_of(name, 10);
    const auto finished = some_finished();
    std::vector<int> got(60);
    for (std::uint32_t b = 0; b < kBuilders; ++b) {
      for (auto slice = next_unfinished(*scheduler, finished, {b}, {10}); slice.value < got.size();
           slice = next_unfinished(*scheduler, finished, {b}, {slice.value + 1})) {
        ++got[slice.value];
        EXPECT_EQ(scheduler->next_slice({b}, slice), slice) << name;
      }
    }
    for (std::uint64_t slice = 10; slice < got.size(); ++slice) {
      EXPECT_EQ(got[slice], finished.contains({slice}) ? 0 : 1) << name << ", slice " << slice;
    }
  }
}

TEST(NextUnfinished, IsThatOfTheSchedulerWhereNothingIsFinished) {
  const auto scheduler = scheduler_of("round-robin", 0);
  for (std::uint64_t from = 0; from < 20; ++from) {
    for (std::uint32_t b = 0; b < kBuilders; ++b) {
      EXPECT_EQ(next_unfinished(*scheduler, SliceSet(), {b}, {from}), scheduler->next_slice({b}, {from}));
    }
  }
}

TEST(NextUnfinished, KnowsNoneBeforeTheFirstClaim) {
  const auto scheduler = scheduler_of("balanced", 10);
  const auto finished = some_finished();
  EXPECT_EQ(next_unfinished(*scheduler, finished, {0}, {10}), kNoSlice);
  auto* book = scheduler->claims();
  ASSERT_NE(book, nullptr);
  book->append({0});
  book->append({1});
  book->skip_to({13});
  book->append({1});
  EXPECT_EQ(next_unfinished(*scheduler, finished, {0}, {10}), SliceId{10});
  EXPECT_EQ(next_unfinished(*scheduler, finished, {1}, {10}), SliceId{11});
  EXPECT_EQ(next_unfinished(*scheduler, finished, {1}, {12}), SliceId{13});
  EXPECT_EQ(next_unfinished(*scheduler, finished, {2}, {10}), kNoSlice);
  EXPECT_EQ(next_unfinished(*scheduler, finished, {0}, {11}), kNoSlice);
}

TEST(ClaimBook, SkippedSlicesHaveNoBuilder) {
  ClaimBook book({10}, 100);
  book.skip_to({11});
  EXPECT_EQ(book.end(), SliceId{11});
  EXPECT_FALSE(book.last()) << "no builder has claimed yet";
  book.append({1});
  book.skip_to({1'000'000'000'014});
  book.skip_to({20});
  book.append({0});
  EXPECT_EQ(book.end(), SliceId{1'000'000'000'015});
  EXPECT_EQ(book.last(), BuilderId{0});
  EXPECT_EQ(book.next_slice({1}, {10}), SliceId{11});
  EXPECT_EQ(book.next_slice({0}, {10}), SliceId{1'000'000'000'014});
  EXPECT_EQ(book.next_slice({2}, {10}), std::nullopt);
  EXPECT_EQ(book.next_slice({0}, {1'000'000'000'015}), std::nullopt);
}

/// Builders take turns as if the finished slices did not exist.
TEST(ClaimBook, SkippedSlicesDoNotChangeWhoIsNext) {
  const auto plain = scheduler_of("balanced", 0);
  const auto gaps = scheduler_of("balanced", 0);
  const std::vector<std::uint32_t> room(kBuilders, 4);
  for (int i = 0; i < 12; ++i) {
    const auto expected = plain->assign(room);
    const auto found = gaps->assign(room);
    ASSERT_TRUE(expected);
    EXPECT_EQ(found, expected);
    plain->claims()->append(*expected);
    gaps->claims()->append(*found);
    gaps->claims()->skip_to({gaps->claims()->end().value + static_cast<std::uint64_t>(i % 3)});
  }
}

TEST(ClaimBook, ForgetsTheOldestClaims) {
  ClaimBook book({0}, 2);
  book.append({1});
  book.skip_to({3});
  book.append({1});
  EXPECT_EQ(book.next_slice({1}, {0}), SliceId{0});
  book.append({0});
  EXPECT_EQ(book.next_slice({1}, {0}), SliceId{3});
}

}  // namespace
}  // namespace eventloom
