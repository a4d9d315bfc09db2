#include "core/definitions/hit_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "found_events.hpp"

namespace eventloom::test {

TEST(HitSearch, FindsWhatASearchOfAllWouldFind) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Times times;
    for (auto n = random() % 100; n > 0; --n) times.push_back(Tick(random() % 50));
    std::ranges::sort(times);
    const auto keys = keys_at(times);
    for (Tick tick = 0; tick < 52; ++tick) {
      const auto at = static_cast<std::uint32_t>(std::ranges::lower_bound(times, tick) - times.begin());
      const auto from = static_cast<std::uint32_t>(random() % (times.size() + 1));
      EXPECT_EQ(seek_forward(keys, from, tick), std::max(at, from));
      EXPECT_EQ(seek_backward(keys, from, tick), std::min(at, from));
    }
  }
}

}  // namespace eventloom::test
