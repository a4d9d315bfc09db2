#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "formats/ring_layout.hpp"

/// Default ring sizes: one rule for `run`, `plan`, `simulate` and `bench`. Pure functions.
///
/// A ring must hold more than one message. Otherwise a source that has put one waits until the builder has taken
/// parts of it and the credits have returned: two network latencies per filled ring. With two messages per ring, the
/// next is in flight meanwhile; with four, a builder may also lag behind.
namespace eventloom {

/// Named as the options of `eventloom run`.
struct RingSize {
  std::uint32_t depth = 8;                            ///< cells, --ring-depth
  std::uint64_t cell_size = std::uint64_t{64} << 10;  ///< bytes, --cell-size

  /// Capacity for messages, without descriptors and headers.
  [[nodiscard]] std::uint64_t bytes() const { return depth * cell_size; }
  /// Leaves room for one more header per cell, so that a message of the cell size fits into one cell.
  [[nodiscard]] RingGeometry geometry() const;
  /// Number of messages of `bytes` that the ring holds when none shares a cell; 0: not even one.
  [[nodiscard]] std::uint64_t messages(std::uint64_t bytes) const;

  bool operator==(const RingSize&) const = default;
};

/// Assumed second-level cache per core if unknown.
inline constexpr std::uint64_t kUsualCache = std::uint64_t{2} << 20;

/// Inputs of the sizing rule.
struct RingNeeds {
  /// Longest usual message of a source for one slice, bytes; std::nullopt: unknown.
  std::optional<std::uint64_t> message_bytes = {};
  std::uint64_t rings = 1;                                           ///< rings ending on the rank that has the most
  std::uint64_t l2_cache = kUsualCache;                              ///< bytes per core
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();  ///< bytes for all rings that end on a rank
};

/// The user's choice; std::nullopt: by the rule.
struct RingOptions {
  std::optional<std::uint32_t> depth = {};
  std::optional<std::uint64_t> cell_size = {};
};

/// Assumed message size where it is unknown.
inline constexpr std::uint64_t kUnknownMessage = std::uint64_t{128} << 10;

/// The usual longest message of a source whose messages have `mean` bytes: with random hit times sizes fluctuate, and a
/// ring sized for the mean would hold only half as many of the messages that need one more cell.
std::uint64_t usual_longest(double mean);

/// Four messages per ring if these fit the second-level cache, otherwise two; eight cells if all rings of the rank
/// still fit it. Messages up to 4 MiB take one cell, hence one transfer; small messages share cells of 64 KiB. If the
/// rings of a rank would exceed `needs.memory`, those of more than 512 KiB are reduced by shrink(). Values in `options`
/// are used unchanged.
RingSize ring_size(const RingNeeds& needs, const RingOptions& options = {});

/// Shrinks the ring by one step, cheapest steps first: at most four messages, cells no larger than a message, two
/// messages, and only then rings that hold less. Returns false at the minimum.
bool shrink(RingSize& ring, std::uint64_t message_bytes);

}  // namespace eventloom
