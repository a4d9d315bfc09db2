#include "core/control/collective.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "tests/support/collective_check.hpp"
#include "tests/support/rank_threads.hpp"

namespace eventloom {
namespace {

TEST(Collective, KeepsItsPromisesWithAnyNumberOfRanks) {
  for (const int n : {1, 2, 3, 8}) {
    run_as_ranks(n, [](const Collective& ranks) {
      EXPECT_EQ(collective_fault(ranks), "") << "rank " << ranks.rank() << " of " << ranks.size();
    });
  }
}

TEST(Collective, NoRankPassesABarrierAlone) {
  std::atomic<int> here = 0;
  run_as_ranks(4, [&](const Collective& ranks) {
    for (int round = 1; round <= 3; ++round) {
      ++here;
      const auto barrier = ranks.barrier();
      while (!barrier->done()) std::this_thread::yield();
      EXPECT_GE(here, round * ranks.size());
    }
  });
}

/// Misuse that would hang over MPI, or mix up the ranks' values, is an error with the tests' ranks.
TEST(RankThreads, MisuseShows) {
  const auto mixed_up = [](const Collective& ranks) {
    if (ranks.rank() == 0) return static_cast<void>(ranks.max(1));
    static_cast<void>(ranks.max(std::uint8_t{1}));
  };
  EXPECT_THROW(run_as_ranks(2, mixed_up), std::logic_error);
  const auto leaves_alone = [](const Collective& ranks) {
    if (ranks.rank() == 1) throw std::invalid_argument("of rank 1");
    EXPECT_THROW(static_cast<void>(ranks.any(true)), std::runtime_error);
  };
  EXPECT_THROW(run_as_ranks(3, leaves_alone), std::invalid_argument);
}

}  // namespace
}  // namespace eventloom
