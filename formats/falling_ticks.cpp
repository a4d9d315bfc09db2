#include "formats/falling_ticks.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formats/falling_ticks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

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
namespace eventloom {

HWY_EXPORT(falls_anywhere);

bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base) {
  return HWY_DYNAMIC_DISPATCH(falls_anywhere)(ticks, base);
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base) {
  bool any = false;
  for (std::size_t i = 1; i < ticks.size(); ++i) any |= ticks[i] - base < ticks[i - 1] - base;
  return any;
}

}  // namespace eventloom

#endif
