#include "core/dataflow/run_merge.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/dataflow/run_merge.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

using Lanes = hw::CappedTag<std::uint32_t, kRunBlock>;
using Keys = hw::Vec<Lanes>;

/// Sorts a bitonic vector: Batcher's merging network (1968), comparing lanes at half the distance in each step.
HWY_INLINE Keys sorted(Keys keys) {
#if HWY_TARGET != HWY_SCALAR
  const Lanes lanes;
  if (hw::Lanes(lanes) > 8) {
    const auto other = hw::ConcatLowerUpper(lanes, keys, keys);
    keys = hw::ConcatUpperLower(lanes, hw::Max(keys, other), hw::Min(keys, other));
  }
  if (hw::Lanes(lanes) > 4) {
    const auto other = hw::SwapAdjacentBlocks(keys);
    keys = hw::OddEvenBlocks(hw::Max(keys, other), hw::Min(keys, other));
  }
  const hw::Repartition<std::uint64_t, Lanes> pairs;
  auto other = hw::Shuffle1032(keys);
  keys = hw::BitCast(lanes, hw::OddEven(hw::BitCast(pairs, hw::Max(keys, other)),  //
                                        hw::BitCast(pairs, hw::Min(keys, other))));
  other = hw::Shuffle2301(keys);
  keys = hw::OddEven(hw::Max(keys, other), hw::Min(keys, other));
#endif
  return keys;
}

/// Positions of a merge in its two runs and in its output.
struct Places {
  const std::uint32_t* a;
  const std::uint32_t* b;
  std::uint32_t* out;
};

/// Writes the first of the keys held and the next ones; holds the others.
HWY_INLINE void write_first(Keys& held, const std::uint32_t* next, std::uint32_t* out) {
  const Lanes lanes;
  const auto taken = hw::Reverse(lanes, hw::LoadU(lanes, next));
  hw::StoreU(sorted(hw::Min(held, taken)), lanes, out);
  held = sorted(hw::Max(held, taken));
}

/// Writes the last of the keys held and the next ones; holds the others.
HWY_INLINE void write_last(Keys& held, const std::uint32_t* next, std::uint32_t* out) {
  const Lanes lanes;
  const auto taken = hw::Reverse(lanes, hw::LoadU(lanes, next));
  hw::StoreU(sorted(hw::Max(held, taken)), lanes, out);
  held = sorted(hw::Min(held, taken));
}

/// Continues from the front, with keys of the run that has the lesser one next. Without a branch: which run it is
/// cannot be predicted.
HWY_INLINE void step(Places& front, Keys& held) {
  const std::size_t n = hw::Lanes(Lanes());
  const bool from_a = *front.a <= *front.b;
  const auto* next = from_a ? front.a : front.b;
  front.a += from_a ? n : 0;
  front.b += from_a ? 0 : n;
  write_first(held, next, front.out);
  front.out += n;
}

/// Continues from the back, with keys of the run that has the greater one next; the places are ends.
HWY_INLINE void step_back(Places& back, Keys& held) {
  const std::size_t n = hw::Lanes(Lanes());
  const bool from_a = back.a[-1] >= back.b[-1];
  back.a -= from_a ? n : 0;
  back.b -= from_a ? 0 : n;
  back.out -= n;
  write_last(held, from_a ? back.a : back.b, back.out);
}

/// Merges from both ends to the middle: two chains of dependent operations keep the processor busier than one.
void merge_runs(KeyRun a, KeyRun b, std::uint32_t* out) {
  const Lanes lanes;
  const std::size_t n = hw::Lanes(lanes);
  const std::size_t n_vectors = (a.n + b.n) / n;
  Places front{a.keys + n, b.keys + n, out + n};
  Places back{a.keys + a.n - n, b.keys + b.n - n, out + a.n + b.n - n};
  auto least = hw::LoadU(lanes, a.keys);
  write_first(least, b.keys, out);
  auto greatest = hw::LoadU(lanes, back.a);
  write_last(greatest, back.b, back.out);
  for (std::size_t left = n_vectors / 2 - 1; left > 0; --left) {
    step(front, least);
    step_back(back, greatest);
  }
  if (n_vectors % 2 != 0) step(front, least);
}

void make_keys(const std::uint32_t* ticks, std::size_t n, std::uint32_t begin, unsigned bits, std::uint32_t position,
               std::uint32_t* out) {
  const Lanes lanes;
  const auto first = hw::Set(lanes, begin);
  const auto step = hw::Lanes(lanes);
  auto positions = hw::Iota(lanes, position);
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    const auto after = hw::Sub(hw::LoadU(lanes, ticks + i), first);
    hw::StoreU(hw::Or(hw::ShiftLeftSame(after, static_cast<int>(bits)), positions), lanes, out + i);
    positions = hw::Add(positions, hw::Set(lanes, static_cast<std::uint32_t>(step)));
  }
  for (; i < n; ++i) out[i] = (ticks[i] - begin) << bits | (position + static_cast<std::uint32_t>(i));
}

void write_hits(const std::uint32_t* keys, std::size_t n, unsigned bits, const std::uint32_t* numbers, HitKey first,
                HitKey* out) {
  const hw::ScalableTag<HitKey> lanes;
  const hw::Rebind<std::uint32_t, decltype(lanes)> narrow;
  const hw::RebindToSigned<decltype(narrow)> index;
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const auto position_bits = hw::Set(narrow, mask);
  const auto begin = hw::Set(lanes, first);
  const auto step = hw::Lanes(lanes);
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    const auto key = hw::LoadU(narrow, keys + i);
    const auto number = hw::GatherIndex(narrow, numbers, hw::BitCast(index, hw::And(key, position_bits)));
    const auto after = hw::PromoteTo(lanes, hw::ShiftRightSame(key, static_cast<int>(bits)));
    const auto hit = hw::Or(hw::ShiftLeft<kHitNumberBits>(after), hw::PromoteTo(lanes, number));
    hw::StoreU(hw::Add(begin, hit), lanes, out + i);
  }
  for (; i < n; ++i) out[i] = first + make_key(keys[i] >> bits, numbers[keys[i] & mask]);
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "formats/vector_choice.hpp"

namespace eventloom {

HWY_EXPORT(make_keys);
HWY_EXPORT(merge_runs);
HWY_EXPORT(write_hits);

std::optional<RunMerge> run_merge() {
  choose_vectors();
  return RunMerge{&HWY_DYNAMIC_DISPATCH(make_keys), &HWY_DYNAMIC_DISPATCH(merge_runs),
                  &HWY_DYNAMIC_DISPATCH(write_hits)};
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

std::optional<RunMerge> run_merge() { return std::nullopt; }

}  // namespace eventloom

#endif
