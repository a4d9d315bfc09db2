#include "core/dataflow/hit_copy.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/dataflow/hit_copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

/// Copies the hits [i, n) of the keys.
HWY_INLINE void copy_singly(const HitKey* keys, std::size_t i, std::size_t n, HitProperties of, Tick start,
                            CopiedHits out) {
  for (; i < n; ++i) {
    const auto number = number_of(keys[i]);
    out.time[i] = start + tick_of(keys[i]);
    out.channel[i] = of.channel[number];
    out.source[i] = of.source[number];
  }
}

#if HWY_TARGET <= HWY_AVX2

/// Copies `n` hits, rounded up to whole vectors, or as many whole vectors as `most` keys fill. Returns their number.
HWY_INLINE std::size_t copy_vectors(const HitKey* keys, std::size_t n, std::size_t most, HitProperties of, Tick start,
                                    CopiedHits out) {
  const hw::ScalableTag<std::uint64_t> lanes;
  const hw::Rebind<std::uint32_t, decltype(lanes)> narrow;
  const hw::RebindToSigned<decltype(narrow)> index;
  const hw::Rebind<std::uint16_t, decltype(lanes)> shorts;
  static_assert(hw::MaxLanes(lanes) <= kHitsBehind);
  const auto* source_pairs = reinterpret_cast<const std::uint32_t*>(of.source);
  const auto first = hw::Set(lanes, start.value);
  const auto number_mask = hw::Set(narrow, static_cast<std::uint32_t>(kMostHits - 1));
  std::size_t i = 0;
  for (; i < n && i + hw::Lanes(lanes) <= most; i += hw::Lanes(lanes)) {
    const auto key = hw::LoadU(lanes, keys + i);
    hw::StoreU(hw::Add(first, hw::ShiftRight<kHitNumberBits>(key)), lanes,
               reinterpret_cast<std::uint64_t*>(out.time + i));
    const auto number = hw::And(hw::TruncateTo(narrow, key), number_mask);
    hw::StoreU(hw::GatherIndex(narrow, of.channel, hw::BitCast(index, number)), narrow, out.channel + i);
    // No instruction gathers 16 bits.
    const auto pair = hw::GatherIndex(narrow, source_pairs, hw::BitCast(index, hw::ShiftRight<1>(number)));
    const auto is_odd = hw::Ne(hw::And(number, hw::Set(narrow, 1U)), hw::Zero(narrow));
    const auto source = hw::IfThenElse(is_odd, hw::ShiftRight<16>(pair), pair);
    hw::StoreU(hw::TruncateTo(shorts, source), shorts, out.source + i);
  }
  return i;
}

#else

/// Copies nothing: vectors are no faster on processors that cannot gather.
HWY_INLINE std::size_t copy_vectors(const HitKey*, std::size_t, std::size_t, HitProperties, Tick, CopiedHits) {
  return 0;
}

#endif

void copy_blocks(std::span<const HitKey> keys, std::span<const KeyBlock> blocks, HitProperties of, Tick start,
                 CopiedHits out) {
  for (const auto& block : blocks) {
    const auto* first = keys.data() + block.begin;
    const std::size_t n = block.end - block.begin;
    copy_singly(first, copy_vectors(first, n, keys.size() - block.begin, of, start, out), n, of, start, out);
    out = {out.time + n, out.channel + n, out.source + n};
  }
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eventloom {

HWY_EXPORT(copy_blocks);

void copy_hits(std::span<const HitKey> keys, std::span<const KeyBlock> blocks, HitProperties of, Tick start,
               CopiedHits out) {
  HWY_DYNAMIC_DISPATCH(copy_blocks)(keys, blocks, of, start, out);
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

void copy_hits(std::span<const HitKey> keys, std::span<const KeyBlock> blocks, HitProperties of, Tick start,
               CopiedHits out) {
  for (const auto& block : blocks) {
    for (const HitKey key : keys.subspan(block.begin, block.end - block.begin)) {
      const auto number = number_of(key);
      *out.time++ = start + tick_of(key);
      *out.channel++ = of.channel[number];
      *out.source++ = of.source[number];
    }
  }
}

}  // namespace eventloom

#endif
