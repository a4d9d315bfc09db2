#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/utc_time.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A length of time, or a time since 1970, in 10^-18 s.
__extension__ using Attoseconds = __int128;

/// Of a decimal number with or without a minus sign; nothing when it is none, is too large, or not whole.
std::optional<Attoseconds> attoseconds_of(std::string_view text, std::uint64_t unit_ps);
Attoseconds attoseconds_of(const UtcTime& time);

/// Nothing from 2^75 ticks on.
std::optional<FineTicks> fine_of(Attoseconds time, std::uint64_t tick_ps);

/// The time that becomes tick 0.
struct OriginKey {
  Attoseconds at = 0;
  bool utc = false;  ///< since 1970
};

/// The key `origin`: UTC, or a length of time such as -5ms, plain numbers in ticks. Nothing when there is none. Throws
/// UserError when it is neither.
std::optional<OriginKey> origin_of(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
