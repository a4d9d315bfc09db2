#pragma once

#include <compare>
#include <cstdint>

namespace eventloom {

/// A number that identifies one kind of thing. Ids of different kinds neither convert to nor compare with each other.
/// `value` is for array indices and wire fields.
template <class Tag, class Rep>
struct Id {
  Rep value{};
  friend constexpr auto operator<=>(Id, Id) = default;
};

/// A source of the run, numbered from 0 in the order of `--source`; sources of a glob are in the order of their names.
using SourceId = Id<struct SourceTag, std::uint16_t>;
/// A builder of the run, numbered from 0.
using BuilderId = Id<struct BuilderTag, std::uint32_t>;
/// A filter of the run, numbered from 0.
using FilterId = Id<struct FilterTag, std::uint32_t>;
/// A slice: k = `--epochs-per-slice` consecutive epochs; slice n holds epochs [n * k, (n + 1) * k).
using SliceId = Id<struct SliceTag, std::uint64_t>;

/// Unit of time of a run, counted from its start. One tick is `TimeBase::tick_ps` picoseconds.
using Tick = std::uint64_t;
/// Number of an epoch, unwrapped to 64 bits; the wire carries its low 28 bits.
using Epoch = std::uint64_t;

}  // namespace eventloom
