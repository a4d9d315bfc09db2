#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "formats/ring_layout.hpp"

/// How large rings are where the user does not say: one rule for `run`, `plan`, `simulate` and `bench`. Pure functions.
///
/// A ring must hold more than a message: a source that has put one is otherwise at rest until the builder has taken
/// pieces of it and the credits have come back, two latencies of the network for each ring full. With two messages in a
/// ring the next is on its way meanwhile; with four a builder may also lag behind.
namespace eventloom {

/// As options of `eventloom run`.
struct RingSize {
  std::uint32_t depth = 8;                            ///< cells, --ring-depth
  std::uint64_t cell_size = std::uint64_t{64} << 10;  ///< bytes, --cell-size

  /// What messages fill: descriptors and headers not counted.
  [[nodiscard]] std::uint64_t bytes() const { return depth * cell_size; }
  /// With room for one header more in each cell, so that a message of the size of a cell fits into one.
  [[nodiscard]] RingGeometry geometry() const;
  /// Messages of `bytes` that the ring holds at a time when none shares a cell; 0: not even one.
  [[nodiscard]] std::uint64_t messages(std::uint64_t bytes) const;

  bool operator==(const RingSize&) const = default;
};

/// The second-level cache of a core where it is not known.
inline constexpr std::uint64_t kUsualCache = std::uint64_t{2} << 20;

/// What the size depends on.
struct RingNeeds {
  /// Bytes that a source has for a slice, at its usual longest; nothing: unknown.
  std::optional<std::uint64_t> message_bytes = {};
  std::uint64_t rings = 1;                                           ///< that end on the rank with the most
  std::uint64_t l2_cache = kUsualCache;                              ///< of a core, bytes
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();  ///< bytes for all rings that end on a rank
};

/// What the user says; nothing: by the rule.
struct RingOptions {
  std::optional<std::uint32_t> depth = {};
  std::optional<std::uint64_t> cell_size = {};
};

/// The size for which rings are made where messages are of unknown size.
inline constexpr std::uint64_t kUnknownMessage = std::uint64_t{128} << 10;

/// The usual longest messages of a source whose messages have `mean` bytes: at random times hits fluctuate, and a ring
/// made for the mean would hold half as many of those that need one more cell.
std::uint64_t usual_longest(double mean);

/// Four messages a ring where these fit the second-level cache, otherwise two; eight cells where all rings of the rank
/// fit it with them. A message takes one cell up to 4 MiB, so that each is one transfer; small messages share cells of
/// 64 KiB. Where the rings of a rank would take more than `needs.memory`, those of more than 512 KiB are made
/// smaller by shrink(). What `options` says is taken as it is.
RingSize ring_size(const RingNeeds& needs, const RingOptions& options = {});

/// Makes the rings smaller by one step, the steps that cost least speed first: no more than four messages, cells no
/// larger than a message, two messages; and only then rings that hold less. False at the smallest.
bool shrink(RingSize& ring, std::uint64_t message_bytes);

}  // namespace eventloom
