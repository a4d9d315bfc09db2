#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/ids.hpp"
#include "io/recorded/reorder_buffer.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// What becomes of a recording at a jump: a hit whose time lies before an earlier one by more than ordinary disorder.
enum class JumpPolicy : std::uint8_t {
  refuse,   ///< the input is in error
  new_era,  ///< time goes on after the last hit, with the distances that the hits from there on have to each other
  drop,     ///< hits are dropped (jump) until their times have caught up
};

/// How far the times of a recording may go back, as the keys `reorder` and `jumps` of its URI say.
struct TimeOrder {
  ReorderLimits reorder;
  Tick disorder = 0;  ///< the largest step back that is no jump
  JumpPolicy policy = JumpPolicy::refuse;
  bool stated = false;               ///< `disorder` is what the key says
  bool frames_in_any_order = false;  ///< frames that fit between others are no jumps: see CoveredTime
  bool has_bits = false;             ///< the source has a key that unwraps counters
  bool unwraps = false;              ///< and uses it
  std::uint64_t tick_ps = 0;
};

inline constexpr std::uint64_t kDisorderPs = 10'000'000'000;  ///< 10 ms

/// What holds for a kind of source without the keys.
struct TimeOrderDefaults {
  std::uint64_t hits = kReorderHits;  ///< capacity of the reorder buffer
  std::uint64_t disorder_ps = kDisorderPs;
  bool has_bits = false;  ///< there is a key `bits`
};

/// `reorder` is a length of time, a number of hits, or both, separated by a comma; a time alone holds all hits that it
/// spans. Throws UserError when a key is invalid.
TimeOrder time_order_of(const SourceUri& uri, const TimeOrderDefaults& defaults, std::uint64_t tick_ps);
/// The same of sources whose times are event numbers: `reorder` is a number of hits, and `jumps` is refused.
ReorderLimits reorder_of_numbers(const SourceUri& uri, std::uint64_t hits);

}  // namespace eventloom
