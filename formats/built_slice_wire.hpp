#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/event.hpp"

/// How a built slice travels from a builder to a filter: for each kind of events a BuiltSliceHead, then the columns
/// back to back in the order of the structs in event.hpp, each padded to 8 bytes.
namespace eventloom {

struct BuiltSliceHead {
  LedgerRow ledger;
  std::uint64_t n_events = 0;
  std::uint64_t n_hits = 0;
  std::uint64_t n_payload_counts = 0;  ///< n_hits, or 0 in a run without payload
  std::uint64_t n_payload = 0;
  std::uint64_t n_sources_missing = 0;
  std::uint64_t n_losses = 0;
  std::uint64_t n_left_out = 0;
};

/// Views into `built` and `heads`, which must not change while they are in use. Replaces `heads`.
std::vector<std::span<const std::byte>> to_wire(std::span<const BuiltSlice> built, std::vector<BuiltSliceHead>& heads);

/// The inverse, for as many kinds of events as `out` has. `bytes` is aligned to 8. Throws std::runtime_error when
/// sizes, counts or causes are invalid, or when the kinds are not of one slice.
void from_wire(std::span<const std::byte> bytes, std::span<BuiltSlice> out);

}  // namespace eventloom
