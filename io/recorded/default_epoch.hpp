#pragma once

#include <cstdint>

namespace eventloom {

/// Epoch length for streams that do not define one: the number of ticks in 10 us, at least one. If an epoch cannot hold
/// that many ticks, those in the longest of 5 us, 2 us, 1 us, 500 ns, ... that fits.
std::uint32_t default_epoch_ticks(std::uint64_t tick_ps);

/// Minimum number of epochs in a slice of default length.
inline constexpr std::uint64_t kLeastDefaultEpochs = 100;

/// Default number of epochs of this length in a slice: those in 1 ms, at least 100. A fine tick with short epochs must
/// not make short slices, since each slice sends its margins along and has a row in the ledger.
std::uint64_t default_epochs_per_slice(std::uint64_t epoch_ps);

}  // namespace eventloom
