#include "core/engine/ring_rule.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

constexpr std::uint64_t kKiB = 1024;

/// Cell shared by small messages: at this size descriptors and their notification cost nothing measurable.
constexpr std::uint64_t kUsualCell = 64 * kKiB;
/// Smaller cells hold too few small messages to save notifications.
constexpr std::uint64_t kSharedCell = 16 * kKiB;
constexpr std::uint64_t kLeastCell = 4 * kKiB;
/// A message in several cells may be several transfers, each with its own latency; at this size latency is negligible.
constexpr std::uint64_t kMostCell = 4096 * kKiB;
/// Cells per ring for small messages, if all rings of a rank then fit the cache.
constexpr std::uint32_t kUsualDepth = 8;
constexpr std::uint32_t kLeastDepth = 2;

/// Rings up to this size are not shrunk: a run that lacks memory for them has too many rings.
constexpr std::uint64_t kLeastBytes = kUsualCell * kUsualDepth;

constexpr std::uint64_t kEnough = 4;  ///< messages in a ring
constexpr std::uint64_t kFew = 2;     ///< minimum that keeps the next one in flight

constexpr std::uint64_t parts(std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; }
constexpr std::uint64_t rounded_up(std::uint64_t bytes) { return parts(bytes, kLeastCell) * kLeastCell; }

std::uint32_t cells_for(std::uint64_t messages, std::uint64_t message, std::uint64_t cell) {
  constexpr std::uint64_t kMost = 65536;
  return static_cast<std::uint32_t>(std::min(messages * parts(message, cell), kMost));
}

/// `depth`: as given; a message fits half of the ring where possible.
std::uint64_t cell_for(std::uint64_t message, std::optional<std::uint32_t> depth) {
  auto pieces = parts(message, kMostCell);
  if (depth) pieces = std::min(pieces, std::max<std::uint64_t>(*depth / kFew, 1));
  return std::max(rounded_up(parts(message, pieces)), kUsualCell);
}

/// The depth of rings with a given cell size.
std::uint32_t depth_for(std::uint64_t message, std::uint64_t cell, std::uint64_t cache) {
  const auto enough = cells_for(kEnough, message, cell);
  return enough * cell <= cache ? enough : cells_for(kFew, message, cell);
}

/// Shrinks `ring` until it takes at most `bytes`, or the next step would leave fewer messages than `least`.
void shrink_to(RingSize& ring, std::uint64_t bytes, std::uint64_t message, std::uint64_t least) {
  while (ring.bytes() > bytes) {
    auto next = ring;
    if (!shrink(next, message) || next.messages(message) < least) return;
    ring = next;
  }
}

}  // namespace

RingGeometry RingSize::geometry() const { return {depth, static_cast<std::uint32_t>(cell_size / 64 * 64 + 64)}; }

std::uint64_t RingSize::messages(std::uint64_t bytes) const {
  return depth / std::max<std::uint64_t>(parts(bytes, cell_size), 1);
}

std::uint64_t usual_longest(double mean) {
  constexpr double kFluctuation = 1.25;
  return static_cast<std::uint64_t>(
      std::ceil(std::clamp(mean * kFluctuation, 1.0, static_cast<double>(kMaxMessageBytes))));
}

RingSize ring_size(const RingNeeds& needs, const RingOptions& options) {
  const auto message = std::clamp<std::uint64_t>(needs.message_bytes.value_or(kUnknownMessage), 1, kMaxMessageBytes);
  RingSize ring;
  // Messages of unknown size may be small, so use the cell size for small ones.
  ring.cell_size = options.cell_size.value_or(needs.message_bytes ? cell_for(message, options.depth) : kUsualCell);
  ring.depth = options.depth.value_or(depth_for(message, ring.cell_size, needs.l2_cache));
  if (options.depth || options.cell_size) return ring;
  const auto rings = std::max<std::uint64_t>(needs.rings, 1);
  ring.depth = std::max(cells_for(kEnough, message, ring.cell_size), kUsualDepth);
  // Builders poll one ring after another: a small ring is still in the cache at its turn only if all rings fit.
  if (ring.bytes() > needs.l2_cache / rings) ring.depth = cells_for(kEnough, message, ring.cell_size);
  shrink_to(ring, needs.l2_cache, message, kFew);
  shrink_to(ring, std::max(needs.memory / rings, kLeastBytes), message, 0);
  return ring;
}

bool shrink(RingSize& ring, std::uint64_t message_bytes) {
  const auto message = std::max<std::uint64_t>(message_bytes, 1);
  const auto to_depth = [&](std::uint32_t depth) { return ring.depth > depth ? (ring.depth = depth, true) : false; };
  const auto to_half_cells = [&](std::uint64_t least, std::uint64_t holds) {
    const auto half = rounded_up(ring.cell_size / 2);
    return half < ring.cell_size && half >= std::max(least, holds) ? (ring.cell_size = half, true) : false;
  };
  return to_depth(std::max(cells_for(kEnough, message, ring.cell_size), kLeastDepth)) ||
         to_half_cells(kSharedCell, message) ||
         to_depth(std::max(cells_for(kFew, message, ring.cell_size), kLeastDepth)) ||
         to_half_cells(kLeastCell, message) || to_half_cells(kLeastCell, 0) ||
         to_depth(std::max(ring.depth / 2, kLeastDepth));
}

}  // namespace eventloom
