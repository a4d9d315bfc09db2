#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "io/epochs/stream_scan.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

constexpr std::uint32_t kHits = 3;

Bytes numbered(std::uint64_t number) { return make_buffer(Epoch(number), kHits, number, number * kHits); }

StreamScan scan_of(const std::vector<std::uint64_t>& numbers) {
  StreamMaker maker;
  const auto begin = maker.without_index().size();
  for (const auto number : numbers) maker.add(numbered(number));
  return scan_stream(maker.without_index(), begin, stream_header().base);
}

std::ptrdiff_t number_of(const StreamScan& scan, DropCause cause) {
  return std::ranges::count(scan.damage, cause, &Damage::cause);
}

TEST(LateBuffers, EachOfALongGapIsLateOnceAndADuplicateThen) {
  const auto once = scan_of({0, 5, 3, 1, 4, 2, 6});
  EXPECT_EQ(number_of(once, DropCause::out_of_order), 1) << "one gap, one record";
  EXPECT_EQ(number_of(once, DropCause::duplicate), 0);
  EXPECT_EQ(once.hits, 7 * kHits);

  const auto twice = scan_of({0, 5, 3, 3, 1, 4, 4, 1, 2, 2, 2, 6, 5});
  EXPECT_EQ(number_of(twice, DropCause::out_of_order), 1);
  EXPECT_EQ(number_of(twice, DropCause::duplicate), 6);
  EXPECT_EQ(twice.hits, 13 * kHits);
  EXPECT_EQ(twice.problems.size(), 1 + 4 + 6U);
}

TEST(LateBuffers, LateOnesFindTheirGap) {
  const auto scan = scan_of({1, 4, 5, 8, 6, 0, 2, 7, 3});
  EXPECT_EQ(number_of(scan, DropCause::out_of_order), 3);
  EXPECT_EQ(number_of(scan, DropCause::duplicate), 0);
  EXPECT_EQ(scan.hits, 9 * kHits);
}

/// All odd numbers, then all even ones, each beginning with the last.
std::vector<std::uint64_t> odd_then_even(std::uint64_t n) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 1; i < n; i += 2) numbers.push_back(i);
  for (std::uint64_t i = n; i > 0; i -= 2) numbers.push_back(i - 2);
  return numbers;
}

TEST(LateBuffers, EachOfManyGapsIsFound) {
  constexpr std::uint64_t kBuffers = 20'000;
  const auto scan = scan_of(odd_then_even(kBuffers));
  EXPECT_EQ(number_of(scan, DropCause::out_of_order), static_cast<std::ptrdiff_t>(kBuffers / 2));
  EXPECT_EQ(scan.hits, kBuffers * kHits);
}

/// If each buffer searched all gaps, ten times as many would take a hundred times as long.
TEST(LateBuffers, TimeGrowsWithTheNumberOfGaps) {
  const auto time_of = [](std::uint64_t n) {
    const auto numbers = odd_then_even(n);
    const auto begin = std::chrono::steady_clock::now();
    scan_of(numbers);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double ratio = 1000;
  for (int attempt = 0; attempt < 3 && ratio > 40; ++attempt) ratio = time_of(200'000) / time_of(20'000);
  EXPECT_LT(ratio, 40);
}

}  // namespace
}  // namespace eventloom::test
