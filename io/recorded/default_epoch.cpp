#include "io/recorded/default_epoch.hpp"

#include <algorithm>

#include "formats/geometry.hpp"

namespace eventloom {

std::uint32_t default_epoch_ticks(std::uint64_t tick_ps) {
  constexpr std::uint64_t kTenMicroseconds = 10'000'000;
  std::uint64_t ps = kTenMicroseconds;
  for (std::uint64_t power = kTenMicroseconds / 10; ps / tick_ps > kMaxEpochTicks; power /= 10) {
    for (const std::uint64_t factor : {5, 2, 1}) {
      ps = factor * power;
      if (ps / tick_ps <= kMaxEpochTicks) break;
    }
  }
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(ps / tick_ps, 1));
}

std::uint64_t default_epochs_per_slice(std::uint64_t epoch_ps) {
  constexpr std::uint64_t kMillisecond = 1'000'000'000;
  return std::max<std::uint64_t>(kMillisecond / epoch_ps, kLeastDefaultEpochs);
}

}  // namespace eventloom
