#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/event.hpp"

/// Wire format of a built slice from builder to filter: for each kind of events a BuiltSliceHead, then contiguous
/// columns in the order of the structs in event.hpp, each padded to 8 bytes.
namespace eventloom {

struct BuiltSliceHead {
  LedgerRow ledger;
  std::uint64_t n_events = 0;
  std::uint64_t n_hits = 0;
  std::uint64_t n_payload_counts = 0;  ///< n_hits, or 0 in a run without payload
  std::uint64_t n_payload = 0;
  std::uint64_t n_sources_missing = 0;
  std::uint64_t n_losses = 0;
  std::uint64_t n_live_hits = 0;
  std::uint64_t n_left_out = 0;
  std::uint64_t n_filled = 0;
};

/// Returns views into `built` and `heads`, which must not change while these are in use. Replaces `heads`.
std::vector<std::span<const std::byte>> to_wire(std::span<const BuiltSlice> built, std::vector<BuiltSliceHead>& heads);

/// The inverse of to_wire(), for as many kinds of events as `out` has elements. `bytes` must be aligned to 8. Throws
/// std::runtime_error when sizes, counts or causes are invalid, or the kinds belong to different slices.
void from_wire(std::span<const std::byte> bytes, std::span<BuiltSlice> out);

}  // namespace eventloom
