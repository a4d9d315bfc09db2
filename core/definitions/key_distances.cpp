#include "core/definitions/key_distances.hpp"

#include <algorithm>
#include <bit>

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/definitions/key_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

/// Bit i: later[i] follows earlier[i] by more than `most`. Both have 64 elements.
std::uint64_t distant_among_64(const HitKey* earlier, const HitKey* later, std::int64_t most) {
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

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eventloom {

HWY_EXPORT(distant_among_64);

namespace {
std::uint64_t distant_among_64(const HitKey* earlier, const HitKey* later, std::int64_t most) {
  return HWY_DYNAMIC_DISPATCH(distant_among_64)(earlier, later, most);
}
}  // namespace

}  // namespace eventloom
#endif

#else

namespace eventloom {
namespace {

std::uint64_t distant_among_64(const HitKey* earlier, const HitKey* later, std::int64_t most) {
  std::uint64_t distant = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const auto distance = static_cast<std::int64_t>((tick_of(later[i]) - tick_of(earlier[i])).value);
    distant |= std::uint64_t{distance > most} << i;
  }
  return distant;
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
  std::uint32_t found = 0;
  std::uint32_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const auto distant = distant_among_64(earlier + i, later + i, limit);
    for (auto bits = kDistant ? distant : ~distant; bits != 0; bits &= bits - 1) {
      positions[found++] = first + i + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
  }
  for (; i < n; ++i) {
    if ((tick_of(later[i]) - tick_of(earlier[i]) > most) == kDistant) positions[found++] = first + i;
  }
  return found;
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

}  // namespace eventloom
#endif
