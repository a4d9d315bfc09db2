#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// A hit that a detector map has masked or cut: its time, which counts like those of keys, and its source.
struct TakenOut {
  std::uint32_t tick = 0;
  std::uint16_t source = 0;
  friend auto operator<=>(const TakenOut&, const TakenOut&) = default;
};

/// What event building by number requires besides equal times: all numbered sources contribute to every event, and
/// agree on its trigger type.
class NumberMatch {
 public:
  /// `stream_flags`: StreamFlag bits by source number. `with_payload`: whether the payload of the hits is available.
  NumberMatch(std::vector<std::uint32_t> stream_flags, bool with_payload);

  /// Removes the hits of sources whose trigger type is not that of most sources of the same event (of the first source,
  /// in a tie): their counters are out of step. Enters those that the slice owns into its account and into `problems`.
  /// Sources without a trigger type have no vote and stay. The result lives as long as `keys` and until the next call.
  std::span<const HitKey> same_trigger(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                                       BuiltSlice& out, std::vector<BuildProblem>& problems);

  /// Flags the events in `out`, which are `events`, that lack a numbered source, and adds these sources to the missing
  /// ones of the slice. An event does not lack a source of which a hit was `taken_out`, rising: the user does not want
  /// it.
  void flag_missing(const DecodedHits& hits, const EventList& events, std::span<const TakenOut> taken_out,
                    BuiltSlice& out);

 private:
  /// The part of a source in an event.
  struct Part {
    std::uint16_t source;
    std::uint32_t trigger;  ///< or kUntold
    std::uint32_t begin;    ///< positions in the keys
    std::uint32_t end;
  };

  static constexpr std::uint32_t kUntold = ~std::uint32_t{0};  ///< trigger types have 16 bits

  [[nodiscard]] bool has(std::uint16_t source, std::uint32_t flag) const { return (flags_[source] & flag) != 0; }
  std::uint32_t find_parts(const DecodedHits& hits, std::span<const HitKey> keys, std::uint32_t begin);
  [[nodiscard]] bool same_everywhere() const;
  [[nodiscard]] std::uint32_t common_trigger() const;
  void keep_or_drop(std::span<const HitKey> keys, std::uint32_t common, const SliceBounds& bounds, BuiltSlice& out,
                    std::vector<BuildProblem>& problems);

  std::vector<std::uint32_t> flags_;
  std::vector<std::uint16_t> numbered_;  ///< sources that every event should have
  bool triggers_ = false;                ///< several sources have trigger types
  std::vector<Part> parts_;              ///< of the current event, by source
  std::vector<HitKey> kept_;
  std::vector<std::uint8_t> lacking_;  ///< by place in numbered_
};

}  // namespace eventloom
