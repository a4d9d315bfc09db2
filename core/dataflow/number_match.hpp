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
/// agree on its trigger type and on its tag.
class NumberMatch {
 public:
  /// `stream_flags`: StreamFlag bits by source number. `with_payload`: whether the payload of the hits is available.
  NumberMatch(std::vector<std::uint32_t> stream_flags, bool with_payload);

  /// Removes the hits of sources whose trigger type is not that of most sources of the same event (of the first source,
  /// in a tie), and then likewise by tag: their counters are out of step. Enters those that the slice owns into its
  /// account and into `problems`. Sources without a trigger type or tag have no vote on it and stay. The result lives
  /// as long as `keys` and until the next call.
  std::span<const HitKey> agreeing(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                                   BuiltSlice& out, std::vector<BuildProblem>& problems);

  /// Flags the events in `out`, which are `events`, that lack a numbered source which is not optional, and adds these
  /// sources to the missing ones of the slice; flags those of which hits were removed by their tag. An event does not
  /// lack a source of which a hit was `taken_out`, rising: the user does not want it.
  void flag_missing(const DecodedHits& hits, const EventList& events, std::span<const TakenOut> taken_out,
                    BuiltSlice& out);

 private:
  /// The part of a source in an event.
  struct Part {
    std::uint16_t source;
    std::uint32_t trigger;  ///< or kUntold
    std::uint32_t tag;      ///< likewise
    std::uint32_t begin;    ///< positions in the keys
    std::uint32_t end;
    bool dropped = false;
  };
  using Mark = std::uint32_t Part::*;  ///< what sources agree on

  static constexpr std::uint32_t kUntold = ~std::uint32_t{0};  ///< trigger types have 16 bits, tags 8

  [[nodiscard]] bool has(std::uint16_t source, std::uint32_t flag) const { return (flags_[source] & flag) != 0; }
  std::uint32_t find_parts(const DecodedHits& hits, std::span<const HitKey> keys, std::uint32_t begin);
  [[nodiscard]] Part part_of(const DecodedHits& hits, std::uint32_t number) const;
  [[nodiscard]] bool same_everywhere(Mark mark) const;
  [[nodiscard]] std::uint32_t common(Mark mark) const;
  void keep_or_drop(std::span<const HitKey> keys, const SliceBounds& bounds, BuiltSlice& out,
                    std::vector<BuildProblem>& problems);
  bool drop_others(Mark mark, const char* name, Tick event, bool owned, BuiltSlice& out,
                   std::vector<BuildProblem>& problems);

  void flag_event(std::size_t event, std::uint32_t tick, std::span<const TakenOut> taken_out, EventColumns& columns);

  std::vector<std::uint32_t> flags_;
  std::vector<std::uint16_t> numbered_;  ///< sources that every event should have
  std::size_t n_numbered_ = 0;           ///< optional ones included
  bool compares_ = false;                ///< several sources have trigger types, or tags
  std::vector<Part> parts_;              ///< of the current event, by source
  std::vector<HitKey> kept_;
  std::vector<std::uint32_t> tag_errors_;  ///< ticks of the events in the slice, rising
  std::vector<std::uint8_t> lacking_;      ///< by place in numbered_
};

}  // namespace eventloom
