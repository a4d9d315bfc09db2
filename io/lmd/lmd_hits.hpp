#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "io/lmd/lmd_event.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Describes how subevents become hits, for messages and stream headers; see formats/lmd.hpp.
std::string_view lmd_hit_rule();

/// Converts events to hits by the rule of formats/lmd.hpp.
class LmdHitMaker {
 public:
  /// Appends the hits of `event` to `block`, all at `time`.
  void append(const LmdEvent& event, Tick time, HitBlock& block);

  /// Number of subevents whose control or crate exceeds 63, so that the channel does not identify them.
  [[nodiscard]] std::uint64_t folded() const { return folded_; }

 private:
  std::uint64_t folded_ = 0;
};

/// Whether the event in `block` that starts at hit `first` is an incomplete copy of `event`: its subevents are the
/// first ones of `event`, which has more.
bool lmd_hits_begin(const HitBlock& block, std::size_t first, const LmdEvent& event);

/// The event and subevent that a hit represents.
struct LmdHit {
  std::uint16_t trigger = 0;
  std::uint16_t dummy = 0;
  std::uint32_t number = 0;
  std::optional<LmdSubevent> subevent = {};  ///< std::nullopt: the event has no subevents
};
/// Parses a payload; std::nullopt if it does not follow the rule. The result refers to the data in `payload`.
std::optional<LmdHit> read_lmd_hit(std::span<const std::uint32_t> payload);

}  // namespace eventloom
