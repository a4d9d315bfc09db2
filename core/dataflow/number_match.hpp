#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/removed_hits.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Requirements of event building by number besides equal times: all numbered sources contribute to every event, and
/// agree on its trigger type and its tag.
class NumberMatch {
 public:
  /// `stream_flags`: StreamFlag bits by source number. `with_payload`: whether the payload of the hits is available.
  NumberMatch(std::vector<std::uint32_t> stream_flags, bool with_payload);

  /// Removes the hits of sources whose trigger type differs from that of most sources of the same event (from the first
  /// source's, in a tie), and then likewise by tag: their counters are out of step. Enters those that the slice owns
  /// into its account and into `problems`. Sources without a trigger type or tag have no vote on it and stay. The
  /// result is valid as long as `keys` and until the next call.
  std::span<const HitKey> agreeing(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                                   BuiltSlice& out, std::vector<BuildProblem>& problems);

  /// Flags the events in `out`, which are `events`, that lack a required numbered source, and adds these sources to the
  /// slice's missing ones; flags events from which hits were removed by tag. A source with hits in `taken_out`
  /// (ascending) is not missing from their event: the user excluded them.
  void flag_missing(const DecodedHits& hits, const EventList& events, std::span<const TakenOut> taken_out,
                    BuiltSlice& out);

 private:
  /// A source's contribution to an event.
  struct Part {
    std::uint16_t source;
    std::uint32_t trigger;  ///< kUnknown if unknown
    std::uint32_t tag;      ///< kUnknown if unknown
    std::uint32_t begin;    ///< [begin, end): positions in the keys
    std::uint32_t end;
    bool dropped = false;
  };
  using Mark = std::uint32_t Part::*;  ///< property on which sources agree

  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};  ///< trigger types have 16 bits, tags 8

  [[nodiscard]] bool has(std::uint16_t source, std::uint32_t flag) const { return (flags_[source] & flag) != 0; }
  std::uint32_t find_parts(const DecodedHits& hits, std::span<const HitKey> keys, std::uint32_t begin);
  [[nodiscard]] Part part_of(const DecodedHits& hits, std::uint32_t number) const;
  [[nodiscard]] bool same_everywhere(Mark mark) const;
  [[nodiscard]] std::uint32_t common(Mark mark) const;
  void keep_or_drop(std::span<const HitKey> keys, const SliceBounds& bounds, BuiltSlice& out,
                    std::vector<BuildProblem>& problems);
  bool drop_others(Mark mark, const char* name, Tick event, bool owned, BuiltSlice& out,
                   std::vector<BuildProblem>& problems);

  void flag_event(std::size_t event, Tick tick, std::span<const TakenOut> taken_out, EventColumns& columns);

  std::vector<std::uint32_t> flags_;
  std::vector<std::uint16_t> numbered_;  ///< sources required in every event
  std::size_t n_numbered_ = 0;           ///< includes optional ones
  bool compares_ = false;                ///< several sources have trigger types, or tags
  std::vector<Part> parts_;              ///< parts of the current event, ordered by source
  std::vector<HitKey> kept_;
  std::vector<Tick> tag_errors_;       ///< ticks of the affected events in the slice, ascending
  std::vector<std::uint8_t> lacking_;  ///< indexed as numbered_
};

}  // namespace eventloom
