#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "io/lmd/lmd_event.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// How subevents become hits, for messages and for the header of a stream; see formats/lmd.hpp.
std::string_view lmd_hit_rule();

/// Makes hits of events, by the rule of formats/lmd.hpp.
class LmdHitMaker {
 public:
  /// Appends the items of `event` to `block`, all at `time`.
  void append(const LmdEvent& event, Tick time, HitBlock& block);

  /// Subevents whose control or crate is above 63, so that the channel does not identify them.
  [[nodiscard]] std::uint64_t folded() const { return folded_; }

 private:
  std::uint64_t folded_ = 0;
};

/// Whether the event that `block` holds from hit `first` on is an unfinished copy of `event`: its subevents are the
/// first ones of that event, which has more.
bool lmd_hits_begin(const HitBlock& block, std::size_t first, const LmdEvent& event);

/// The event and the subevent that a hit stands for.
struct LmdHit {
  std::uint16_t trigger = 0;
  std::uint16_t dummy = 0;
  std::uint32_t number = 0;
  std::optional<LmdSubevent> subevent = {};  ///< nothing: the event has none
};
/// What a hit of this payload stands for; nothing when that is not of the form above. Its data stay in `payload`.
std::optional<LmdHit> read_lmd_hit(std::span<const std::uint32_t> payload);

}  // namespace eventloom
