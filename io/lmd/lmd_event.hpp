#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/lmd.hpp"

namespace eventloom {

/// Longer events, and events of more subevents, count as damage, so that a wrong length cannot exhaust memory.
inline constexpr std::uint64_t kMaxLmdEventBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxLmdSubevents = std::size_t{1} << 20;

struct LmdSubevent {
  std::uint32_t dlen = 0;  ///< 16-bit words after the first 8 bytes
  std::uint16_t type = 0;
  std::uint16_t subtype = 0;
  std::uint16_t procid = 0;
  std::uint8_t crate = 0;
  std::uint8_t control = 0;
  /// Little-endian 32-bit words of any alignment; the last word may lack its upper half.
  std::span<const std::byte> data;

  [[nodiscard]] std::uint32_t id() const { return lmd_id(control, crate, procid); }
  [[nodiscard]] std::uint64_t bytes() const { return LmdElement{.dlen = dlen}.bytes(); }  ///< header and data
  [[nodiscard]] std::size_t words() const { return (data.size() + 3) / 4; }
  /// Word `i` of the data; a missing upper half is zero.
  [[nodiscard]] std::uint32_t word(std::size_t i) const;
};

/// An event whose data are views into the reader's memory.
struct LmdEvent {
  std::uint64_t offset = 0;  ///< offset of its header in the file, bytes
  std::uint32_t dlen = 0;    ///< 16-bit words after the first 8 bytes
  std::uint16_t trigger = 0;
  std::uint16_t dummy = 0;
  std::uint32_t number = 0;
  std::vector<LmdSubevent> subevents;

  [[nodiscard]] std::uint64_t bytes() const { return LmdElement{.dlen = dlen}.bytes(); }  ///< whole event
  /// Number of its hits: one per subevent, or one for an event without subevents.
  [[nodiscard]] std::size_t items() const { return subevents.empty() ? 1 : subevents.size(); }
};

/// Parses an event. `bytes` is the whole event, and must outlive `event`, which refers to it. Returns false when the
/// subevents do not fill the event exactly; `event` then has those before the first that does not fit.
bool read_lmd_event(std::span<const std::byte> bytes, LmdEvent& event);

/// Minimum number of hits in an event of which only `bytes` remain.
std::uint32_t count_lmd_items(std::span<const std::byte> bytes);

}  // namespace eventloom
