#include "core/definitions/key_distances.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/definitions/key_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

using Numbers = hw::ScalableTag<std::uint32_t>;

/// Writes those of the numbers that the mask selects, and returns the place behind them.
HWY_INLINE std::uint32_t* write_selected(hw::Vec<Numbers> numbers, hw::Mask<Numbers> mask, std::uint32_t* out) {
  static_assert(hw::MaxLanes(Numbers()) <= kPositionsBehind);
  hw::StoreU(hw::Compress(numbers, mask), Numbers(), out);
  return out + hw::CountTrue(Numbers(), mask);
}

/// Writes the sum of `first` and the number of each bit that is set, and returns the place behind them.
HWY_INLINE std::uint32_t* write_bits(std::uint64_t bits, std::uint32_t first, std::uint32_t* out) {
  const Numbers lanes;
  const auto step = static_cast<std::uint32_t>(hw::Lanes(lanes));
  for (std::uint32_t k = 0; k < 64; k += step) {
    const std::uint64_t of_vector = bits >> k;
    const auto mask = hw::LoadMaskBits(lanes, reinterpret_cast<const std::uint8_t*>(&of_vector));
    out = write_selected(hw::Iota(lanes, first + k), mask, out);
  }
  return out;
}

/// Compares runs, as many as fill whole vectors; `n_runs` becomes their number.
std::uint32_t* find_long_among(const std::uint32_t* starts, std::uint32_t& n_runs, std::uint32_t min_hits,
                               std::uint32_t* numbers) {
  const Numbers lanes;
  const auto step = static_cast<std::uint32_t>(hw::Lanes(lanes));
  const auto least = hw::Set(lanes, min_hits);
  n_runs -= n_runs % step;
  for (std::uint32_t r = 0; r < n_runs; r += step) {
    const auto length = hw::Sub(hw::LoadU(lanes, starts + r + 1), hw::LoadU(lanes, starts + r));
    numbers = write_selected(hw::Iota(lanes, r), hw::Not(hw::Lt(length, least)), numbers);
  }
  return numbers;
}

#else

// One number at a time is faster where no instruction compresses a vector.

HWY_INLINE std::uint32_t* write_bits(std::uint64_t bits, std::uint32_t first, std::uint32_t* out) {
  for (; bits != 0; bits &= bits - 1) *out++ = first + static_cast<std::uint32_t>(std::countr_zero(bits));
  return out;
}

std::uint32_t* find_long_among(const std::uint32_t*, std::uint32_t& n_runs, std::uint32_t, std::uint32_t* numbers) {
  n_runs = 0;
  return numbers;
}

#endif

/// Bit i: later[i] follows earlier[i] by more than `most`. Both have 64 elements.
HWY_INLINE std::uint64_t distant_among_64(const HitKey* earlier, const HitKey* later, std::int64_t most) {
  const hw::ScalableTag<std::uint64_t> lanes;
  const hw::RebindToSigned<decltype(lanes)> with_sign;
  const auto limit = hw::Set(with_sign, most);
  const auto ticks_at = [=](const HitKey* at) { return hw::ShiftRight<kHitNumberBits>(hw::LoadU(lanes, at)); };
  std::uint64_t distant = 0;
  for (std::size_t i = 0; i < 64; i += hw::Lanes(lanes)) {
    const auto distance = hw::BitCast(with_sign, hw::Sub(ticks_at(later + i), ticks_at(earlier + i)));
    std::uint64_t bits = 0;
    hw::StoreMaskBits(with_sign, hw::Gt(distance, limit), reinterpret_cast<std::uint8_t*>(&bits));
    distant |= bits << i;
  }
  return distant;
}

/// Compares `n` pairs of keys, a multiple of 64, and writes the positions of those whose bit, exclusive-ored with
/// `flip`, is set. Returns the place behind them.
std::uint32_t* find_among_64s(const HitKey* earlier, const HitKey* later, std::uint32_t n, std::int64_t most,
                              std::uint64_t flip, std::uint32_t first, std::uint32_t* positions) {
  for (std::uint32_t i = 0; i < n; i += 64) {
    positions = write_bits(distant_among_64(earlier + i, later + i, most) ^ flip, first + i, positions);
  }
  return positions;
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eventloom {

HWY_EXPORT(find_among_64s);
HWY_EXPORT(find_long_among);

namespace {
std::uint32_t* find_among_64s(const HitKey* earlier, const HitKey* later, std::uint32_t n, std::int64_t most,
                              std::uint64_t flip, std::uint32_t first, std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(find_among_64s)(earlier, later, n, most, flip, first, positions);
}
std::uint32_t* find_long_among(const std::uint32_t* starts, std::uint32_t& n_runs, std::uint32_t min_hits,
                               std::uint32_t* numbers) {
  return HWY_DYNAMIC_DISPATCH(find_long_among)(starts, n_runs, min_hits, numbers);
}
}  // namespace

}  // namespace eventloom
#endif

#else

namespace eventloom {
namespace {

std::uint32_t* find_among_64s(const HitKey* earlier, const HitKey* later, std::uint32_t n, std::int64_t most,
                              std::uint64_t flip, std::uint32_t first, std::uint32_t* positions) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto distance = static_cast<std::int64_t>((tick_of(later[i]) - tick_of(earlier[i])).value);
    *positions = first + i;
    positions += (distance > most) != (flip != 0) ? 1 : 0;
  }
  return positions;
}

std::uint32_t* find_long_among(const std::uint32_t*, std::uint32_t& n_runs, std::uint32_t, std::uint32_t* numbers) {
  n_runs = 0;
  return numbers;
}

}  // namespace
}  // namespace eventloom

#endif

#if !defined(EVENTLOOM_HAS_HIGHWAY) || HWY_ONCE
namespace eventloom {

namespace {

/// Writes the positions of those of the `n` pairs of keys that are more than `most` apart, or of all others, and
/// returns their number.
template <bool kDistant>
std::uint32_t find_pairs(const HitKey* earlier, const HitKey* later, std::uint32_t n, Tick most, std::uint32_t first,
                         std::uint32_t* positions) {
  const auto limit = static_cast<std::int64_t>(std::min(most.value, kMostSliceTicks));
  const std::uint32_t whole = n - n % 64;
  auto* end = find_among_64s(earlier, later, whole, limit, kDistant ? 0 : ~std::uint64_t{0}, first, positions);
  for (std::uint32_t i = whole; i < n; ++i) {
    if ((tick_of(later[i]) - tick_of(earlier[i]) > most) == kDistant) *end++ = first + i;
  }
  return static_cast<std::uint32_t>(end - positions);
}

}  // namespace

std::uint32_t find_run_starts(std::span<const HitKey> keys, Tick gap, std::uint32_t* starts) {
  if (keys.empty()) return 0;
  const auto n = static_cast<std::uint32_t>(keys.size() - 1);
  starts[0] = 0;
  return 1 + find_pairs<true>(keys.data(), keys.data() + 1, n, gap, 1, starts + 1);
}

std::uint32_t find_close(std::span<const HitKey> keys, std::size_t apart, Tick window, std::uint32_t* positions) {
  if (keys.size() <= apart) return 0;
  const auto n = static_cast<std::uint32_t>(keys.size() - apart);
  return find_pairs<false>(keys.data(), keys.data() + apart, n, window, 0, positions);
}

std::uint32_t find_long_runs(std::span<const std::uint32_t> starts, std::uint64_t min_hits, std::uint32_t* numbers) {
  if (min_hits > std::numeric_limits<std::uint32_t>::max()) return 0;
  const auto runs = static_cast<std::uint32_t>(starts.size() - 1);
  auto done = runs;
  auto* end = find_long_among(starts.data(), done, static_cast<std::uint32_t>(min_hits), numbers);
  for (std::uint32_t r = done; r < runs; ++r) {
    *end = r;
    end += starts[r + 1] - starts[r] >= min_hits ? 1 : 0;
  }
  return static_cast<std::uint32_t>(end - numbers);
}

}  // namespace eventloom
#endif
