#pragma once

#include <cstdint>

namespace eventloom {

/// Epoch of streams without an epoch of their own: the ticks in 10 us, at least one; with a tick so fine that an epoch
/// cannot hold as many, those in the longest of 5 us, 2 us, 1 us, 500 ns, ... that fits.
std::uint32_t default_epoch_ticks(std::uint64_t tick_ps);

/// Epochs in a slice whose length nobody has chosen, at least.
inline constexpr std::uint64_t kLeastDefaultEpochs = 100;

/// Epochs of this length in a slice whose length nobody has chosen: those that make 1 ms, at least 100. Short epochs of
/// a fine tick must not make short slices: each sends its margins along and has a row in the ledger.
std::uint64_t default_epochs_per_slice(std::uint64_t epoch_ps);

}  // namespace eventloom
