#pragma once

#include <cstdint>

namespace eventloom {

/// Of streams that do not bring an epoch of their own: ticks of 10 us, one at least; with a tick so fine that an epoch
/// cannot have as many, those of the longest of 5 us, 2 us, 1 us, 500 ns, ... that it can.
std::uint32_t default_epoch_ticks(std::uint64_t tick_ps);

}  // namespace eventloom
