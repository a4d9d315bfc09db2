#pragma once

#include <cstdint>

namespace eventloom {

/// Epoch of streams without an epoch of their own: the ticks in 10 us, at least one; with a tick so fine that an epoch
/// cannot hold as many, those in the longest of 5 us, 2 us, 1 us, 500 ns, ... that fits.
std::uint32_t default_epoch_ticks(std::uint64_t tick_ps);

}  // namespace eventloom
