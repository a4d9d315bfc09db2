#include "formats/bare_hits.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formats/bare_hits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

std::size_t unpack_bare_hits(std::span<const std::uint32_t> words, std::uint32_t epoch_ticks, std::uint32_t base,
                             BareHitColumns out) {
  const hw::ScalableTag<std::uint32_t> lanes;
  const std::size_t n_lanes = hw::Lanes(lanes);
  const auto time_mask = hw::Set(lanes, kTimeMask);
  const auto value_mask = hw::Set(lanes, kValueMask);
  const auto of_one_id = hw::Set(lanes, static_cast<std::uint32_t>(MarkerType::time) << 28 | std::uint32_t{1} << 19);
  const auto of_id = hw::Set(lanes, static_cast<std::uint32_t>(MarkerType::channel) << 28);
  const auto end_of_epoch = hw::Set(lanes, epoch_ticks);
  const auto first = hw::Set(lanes, base);
  std::size_t n = 0;
  while (words.size() - 2 * n >= 2 * n_lanes) {
    auto times = hw::Undefined(lanes);
    auto ids = hw::Undefined(lanes);
    hw::LoadInterleaved2(lanes, words.data() + 2 * n, times, ids);
    const auto time = hw::And(times, time_mask);
    const auto types =
        hw::Or(hw::Xor(hw::AndNot(time_mask, times), of_one_id), hw::Xor(hw::AndNot(value_mask, ids), of_id));
    const auto wrong = hw::Or(hw::Ne(types, hw::Zero(lanes)), hw::Not(hw::Lt(time, end_of_epoch)));
    hw::StoreU(hw::Add(first, time), lanes, out.tick + n);
    hw::StoreU(hw::And(ids, value_mask), lanes, out.channel + n);
    const auto stop = hw::FindFirstTrue(lanes, wrong);
    if (stop >= 0) return n + static_cast<std::size_t>(stop);
    n += n_lanes;
  }
  return n;
}

bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base) {
  const hw::ScalableTag<std::uint32_t> lanes;
  const std::size_t n_lanes = hw::Lanes(lanes);
  const auto first = hw::Set(lanes, base);
  auto falls = hw::Zero(lanes);
  std::size_t i = 1;
  for (; i + n_lanes <= ticks.size(); i += n_lanes) {
    const auto before = hw::Sub(hw::LoadU(lanes, ticks.data() + i - 1), first);
    const auto at = hw::Sub(hw::LoadU(lanes, ticks.data() + i), first);
    falls = hw::Or(falls, hw::VecFromMask(lanes, hw::Lt(at, before)));
  }
  bool any = !hw::AllTrue(lanes, hw::Eq(falls, hw::Zero(lanes)));
  for (; i < ticks.size(); ++i) any |= ticks[i] - base < ticks[i - 1] - base;
  return any;
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "formats/vector_choice.hpp"

namespace eventloom {

HWY_EXPORT(unpack_bare_hits);
HWY_EXPORT(falls_anywhere);

BareHitUnpacker bare_hit_unpacker() {
  choose_vectors();
  return &HWY_DYNAMIC_DISPATCH(unpack_bare_hits);
}

bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base) {
  return HWY_DYNAMIC_DISPATCH(falls_anywhere)(ticks, base);
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

namespace {

std::size_t unpack_bare_hits(std::span<const std::uint32_t> words, std::uint32_t epoch_ticks, std::uint32_t base,
                             BareHitColumns out) {
  std::size_t n = 0;
  for (; 2 * n + 1 < words.size(); ++n) {
    const std::uint32_t time = words[2 * n] & kTimeMask;
    const std::uint32_t id = words[2 * n + 1];
    if (!begins_bare_hit(words[2 * n]) || time >= epoch_ticks || marker_type(id) != MarkerType::channel) break;
    out.tick[n] = base + time;
    out.channel[n] = marker_value(id);
  }
  return n;
}

}  // namespace

BareHitUnpacker bare_hit_unpacker() { return unpack_bare_hits; }

bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base) {
  bool any = false;
  for (std::size_t i = 1; i < ticks.size(); ++i) any |= ticks[i] - base < ticks[i - 1] - base;
  return any;
}

}  // namespace eventloom

#endif
