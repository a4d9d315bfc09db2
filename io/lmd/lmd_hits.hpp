#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/dataflow/source.hpp"
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

/// Counts the trigger types of events.
class LmdTriggers {
 public:
  void add(std::uint16_t trigger) { trigger < counts_.size() ? ++counts_[trigger] : ++others_; }
  /// trigger_1, trigger_2, ... for those that occur; types above 255 together as trigger_other.
  void add_to(SourceCounts& counts) const;

 private:
  std::array<std::uint64_t, 256> counts_{};
  std::uint64_t others_ = 0;
};

/// Whether the event that `block` holds from hit `first` on is an unfinished copy of `event`: its subevents are the
/// first ones of that event, which has more.
bool lmd_hits_begin(const HitBlock& block, std::size_t first, const LmdEvent& event);

}  // namespace eventloom
