#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/ids.hpp"
#include "io/recorded/reorder_buffer.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Handling of a jump: a hit whose time lies before an earlier one by more than ordinary disorder.
enum class JumpPolicy : std::uint8_t {
  refuse,   ///< the input is in error
  new_era,  ///< time continues after the last hit; the distances between the hits that follow are kept
  drop,     ///< hits are dropped (jump) until times have caught up
};

/// The place of an era of a clock, which begins with a jump.
struct EraPlace {
  Tick begin = 0;  ///< earliest possible time
  Tick added = 0;  ///< offset to the times of the recording, modulo 2^64
};

/// How far the times of a recording may go back, according to the keys `reorder` and `jumps` of its URI.
struct TimeOrder {
  ReorderLimits reorder;
  Tick disorder = 0;  ///< largest step back that is not a jump
  JumpPolicy policy = JumpPolicy::refuse;
  bool is_strict = false;            ///< no format widens `disorder`, and no hit waits for earlier ones for longer
  bool frames_in_any_order = false;  ///< frames that fit between others are not jumps: see CoveredTime
  bool has_bits = false;             ///< the scheme has the key `bits`, which unwraps counters
  bool unwraps = false;              ///< the URI says how its counter turns
  bool watches_turns = false;        ///< a step back that looks like a turn is refused: see TurnWatch
  bool sorts_restarts = false;       ///< the URI says that its counter never turns: steps back are disorder
  bool names_restarts = false;       ///< a clock that begins again within ordinary disorder is named
  bool quiet = false;                ///< jumps are not reported
  bool numbers = false;              ///< times are event numbers, which never go back
  std::vector<EraPlace> eras = {};   ///< later eras of JumpPolicy::new_era; empty: each follows from its source
  std::uint64_t tick_ps = 0;
};

inline constexpr std::uint64_t kDisorderPs = 10'000'000'000;  ///< 10 ms

/// Defaults of a kind of source.
struct TimeOrderDefaults {
  std::uint64_t hits = kReorderHits;  ///< capacity of the reorder buffer
  std::uint64_t disorder_ps = kDisorderPs;
  bool has_bits = false;  ///< the scheme has the key `bits`
};

/// `reorder` is a duration, a number of hits, or both, separated by a comma; a duration alone covers all hits within
/// it. For files that are followed the default duration holds like a stated one. Throws UserError when a key is
/// invalid.
TimeOrder time_order_of(const SourceUri& uri, const TimeOrderDefaults& defaults, std::uint64_t tick_ps);
/// Likewise for sources whose times are event numbers: `reorder` is a number of hits, and `jumps` is refused.
ReorderLimits reorder_of_numbers(const SourceUri& uri, std::uint64_t hits);
/// Likewise where no tolerance is given: each number that goes back is refused.
TimeOrder order_of_numbers(const SourceUri& uri, bool has_bits);
/// Whether the URI leaves open whether steps back are disorder of numbers: it has neither `reorder` nor `bits=none`.
bool refuses_disorder_of_numbers(const SourceUri& uri);

}  // namespace eventloom
