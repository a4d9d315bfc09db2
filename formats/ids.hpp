#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// A number of ticks, or of epochs: a length, or a position counted from 0. Kinds do not mix, and a plain number of the
/// program becomes one only explicitly; constants convert by themselves (`time + 1`). Arithmetic wraps like that of
/// unsigned integers. Same layout as its value, so that columns and structs of the wire hold it.
template <class Tag>
struct Count {
  std::uint64_t value{};

  constexpr Count() = default;
  template <class N>
  requires std::is_arithmetic_v<N>
  constexpr explicit Count(N n) : value(static_cast<std::uint64_t>(n)) {}
  constexpr explicit Count(int n) : value(static_cast<std::uint64_t>(n)) {}
  /// A template, since other types would convert to int first, and lose their high bits.
  template <std::same_as<int> N>
  consteval Count(N n) : value(static_cast<std::uint64_t>(n)) {}  // NOLINT(google-explicit-constructor): constants

  template <class N>
  requires std::is_arithmetic_v<N>
  constexpr explicit operator N() const { return static_cast<N>(value); }

  constexpr Count& operator+=(Count other) { return value += other.value, *this; }
  constexpr Count& operator-=(Count other) { return value -= other.value, *this; }
  constexpr Count& operator++() { return ++value, *this; }
  constexpr Count& operator--() { return --value, *this; }

  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return Count(a.value + b.value); }
  friend constexpr Count operator-(Count a, Count b) { return Count(a.value - b.value); }
  friend constexpr Count operator*(Count a, std::uint64_t n) { return Count(a.value * n); }
  friend constexpr Count operator*(std::uint64_t n, Count a) { return Count(n * a.value); }
  friend constexpr Count operator/(Count a, std::uint64_t n) { return Count(a.value / n); }
  friend constexpr Count operator%(Count a, std::uint64_t n) { return Count(a.value % n); }
  friend constexpr std::uint64_t operator/(Count a, Count b) { return a.value / b.value; }
  friend constexpr Count operator%(Count a, Count b) { return Count(a.value % b.value); }
};

/// Unit of time of a run, counted from its start. One tick is `TimeBase::tick_ps` picoseconds.
using Tick = Count<struct TickTag>;
/// Number of an epoch, unwrapped to 64 bits; the wire carries its low 28 bits.
using Epoch = Count<struct EpochTag>;

}  // namespace eventloom

template <class Tag>
struct std::numeric_limits<eventloom::Count<Tag>> {
  static constexpr bool is_specialized = true;
  static constexpr eventloom::Count<Tag> min() { return {}; }
  static constexpr eventloom::Count<Tag> max() {
    return eventloom::Count<Tag>(std::numeric_limits<std::uint64_t>::max());
  }
};
