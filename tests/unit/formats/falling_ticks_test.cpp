#include "formats/falling_ticks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

TEST(FallingTicks, AreFoundWhereverTheyAre) {
  std::mt19937 random(2);
  with_each_processor([&] {
    for (std::size_t n = 0; n < 70; ++n) {
      const std::uint32_t base = 0U - static_cast<std::uint32_t>(random() % 200);  // the low bits wrap within the epoch
      std::vector<std::uint32_t> times(n);
      for (auto& time : times) time = static_cast<std::uint32_t>(random() % 400);
      std::ranges::sort(times);
      for (auto& time : times) time += base;
      EXPECT_FALSE(falls_anywhere(times, base));
      for (std::size_t i = 1; i < n; ++i) {
        auto fallen = times;
        fallen[i] = fallen[i - 1] - 1;
        const bool falls = fallen[i - 1] != base;  // otherwise greater than all others
        const bool next_falls = i + 1 < n && fallen[i + 1] - base < fallen[i] - base;
        ASSERT_EQ(falls_anywhere(fallen, base), falls || next_falls) << i << " of " << n;
      }
    }
  });
}

}  // namespace eventloom::test
