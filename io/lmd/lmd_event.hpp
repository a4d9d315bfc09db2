#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/lmd.hpp"

namespace eventloom {

/// Longer events, and events of more subevents, count as damage: memory must not follow a wrong length.
inline constexpr std::uint64_t kMaxLmdEventBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxLmdSubevents = std::size_t{1} << 20;

struct LmdSubevent {
  std::uint32_t dlen = 0;  ///< 16-bit words after the first 8 bytes
  std::uint16_t type = 0;
  std::uint16_t subtype = 0;
  std::uint16_t procid = 0;
  std::uint8_t crate = 0;
  std::uint8_t control = 0;
  /// Little-endian 32-bit words at any alignment; the last may lack its upper half.
  std::span<const std::byte> data;

  [[nodiscard]] std::uint32_t id() const { return lmd_id(control, crate, procid); }
  [[nodiscard]] std::uint64_t bytes() const { return LmdElement{.dlen = dlen}.bytes(); }  ///< header and data
  [[nodiscard]] std::size_t words() const { return (data.size() + 3) / 4; }
  /// Word `i` of the data; a missing half is zero.
  [[nodiscard]] std::uint32_t word(std::size_t i) const;
};

/// Views into the reader's memory.
struct LmdEvent {
  std::uint64_t offset = 0;  ///< of its header in the file, bytes
  std::uint32_t dlen = 0;    ///< 16-bit words after the first 8 bytes
  std::uint16_t trigger = 0;
  std::uint16_t dummy = 0;
  std::uint32_t number = 0;
  std::vector<LmdSubevent> subevents;

  [[nodiscard]] std::uint64_t bytes() const { return LmdElement{.dlen = dlen}.bytes(); }  ///< of all of it
  /// Number of its hits: one per subevent, or one for the event itself.
  [[nodiscard]] std::size_t items() const { return subevents.empty() ? 1 : subevents.size(); }
};

/// Parses an event; `bytes` are all of it and stay with their owner. False when its subevents do not fill it exactly:
/// `event` then has those before the first that does not fit.
bool read_lmd_event(std::span<const std::byte> bytes, LmdEvent& event);

/// Hits of an event of which `bytes` are left, as far as can be seen.
std::uint32_t count_lmd_items(std::span<const std::byte> bytes);

}  // namespace eventloom
