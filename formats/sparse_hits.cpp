#include "formats/sparse_hits.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formats/sparse_hits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

using Words = hw::CappedTag<std::uint32_t, 16>;
using Vector = hw::Vec<Words>;
using Mask = hw::Mask<Words>;

HWY_INLINE std::uint32_t bits_of(Mask mask) {
  std::array<std::uint8_t, 8> bytes{};
  hw::StoreMaskBits(Words(), mask, bytes.data());
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8;
}

/// Takes lanes from some lanes further down; the first ones repeat lane 0.
class LanesBefore {
 public:
  explicit LanesBefore(std::int32_t distance) {
    std::array<std::int32_t, hw::MaxLanes(Words())> from;
    std::iota(from.begin(), from.end(), -distance);
    for (auto& lane : from) lane = std::max(lane, 0);
    indices_ = hw::SetTableIndices(Words(), from.data());
  }
  HWY_INLINE Vector operator()(Vector v) const { return hw::TableLookupLanes(v, indices_); }

 private:
  decltype(hw::SetTableIndices(Words(), static_cast<const std::int32_t*>(nullptr))) indices_;
};

/// Finds the greatest of the lanes up to each.
class GreatestSoFar {
 public:
  HWY_INLINE Vector operator()(Vector v) const {
    v = hw::Max(v, one_(v));
    v = hw::Max(v, two_(v));
    if (hw::Lanes(Words()) > 4) v = hw::Max(v, four_(v));
    if (hw::Lanes(Words()) > 8) v = hw::Max(v, eight_(v));
    return v;
  }

 private:
  LanesBefore one_{1};
  LanesBefore two_{2};
  LanesBefore four_{4};
  LanesBefore eight_{8};
};

/// The kinds of the words of a vector, a bit per word.
struct Kinds {
  std::uint32_t epochs;
  std::uint32_t times;
  std::uint32_t ids;
  std::uint32_t wrong;

  /// Number of words up to the first that is wrong, where each time has its ID.
  [[nodiscard]] std::uint32_t usable(std::uint32_t n_lanes) const {
    const std::uint32_t all = (1U << n_lanes) - 1;
    const std::uint32_t bad = (~(epochs | times | ids) | (ids ^ times << 1) | wrong) & all;
    const auto n = std::min(static_cast<std::uint32_t>(std::countr_zero(bad)), n_lanes);
    return n != 0 && (times >> (n - 1) & 1) != 0 ? n - 1 : n;
  }
};

/// Eight lanes take twice as long as reading word by word: too few hits share the work, and no instruction compresses a
/// vector.
bool is_fast() { return hw::Lanes(Words()) == 16; }

SparseHits unpack_sparse_hits([[maybe_unused]] std::span<const std::uint32_t> words,
                              [[maybe_unused]] EpochCount& epochs, [[maybe_unused]] BareHitColumns out) {
  SparseHits done{0, 0};
#if HWY_TARGET != HWY_SCALAR
  const Words lanes;
  const auto n_lanes = static_cast<std::uint32_t>(hw::Lanes(lanes));
  const auto value_mask = hw::Set(lanes, kValueMask);
  const auto time_mask = hw::Set(lanes, kTimeMask);
  const auto of_time = hw::Set(lanes, static_cast<std::uint32_t>(MarkerType::time) << 28 | std::uint32_t{1} << 19);
  const auto of_id = hw::Set(lanes, static_cast<std::uint32_t>(MarkerType::channel) << 28);
  const auto ticks_in_epoch = hw::Set(lanes, epochs.epoch_ticks);
  // Epochs count from 1 here, so that lanes without one are 0.
  const auto before_first = hw::Set(lanes, epochs.first_epoch - 1);
  const auto first_tick = hw::Set(lanes, epochs.first_tick - epochs.epoch_ticks);
  const auto end = hw::Set(lanes, epochs.end);
  const LanesBefore previous(1);
  const GreatestSoFar greatest_so_far;
  while (words.size() - done.n_words >= n_lanes) {
    const auto word = hw::LoadU(lanes, words.data() + done.n_words);
    const auto time = hw::And(word, time_mask);
    const auto is_epoch = hw::Not(hw::Gt(word, value_mask));
    const auto is_time = hw::Eq(hw::AndNot(time_mask, word), of_time);
    const auto is_id = hw::Eq(hw::AndNot(value_mask, word), of_id);
    const auto opened = hw::IfThenElseZero(is_epoch, hw::And(hw::Sub(word, before_first), value_mask));
    const auto open = hw::Max(greatest_so_far(opened), hw::Set(lanes, epochs.open + 1));
    const auto open_before = hw::IfThenElse(hw::FirstN(lanes, 1), hw::Set(lanes, epochs.open + 1), previous(open));
    const auto wrong_epoch = hw::And(is_epoch, hw::Or(hw::Not(hw::Gt(opened, open_before)), hw::Gt(opened, end)));
    const auto wrong_time = hw::And(is_time, hw::Not(hw::Lt(time, ticks_in_epoch)));
    const Kinds kinds{bits_of(is_epoch), bits_of(is_time), bits_of(is_id), bits_of(hw::Or(wrong_epoch, wrong_time))};
    const auto n = kinds.usable(n_lanes);
    if ((kinds.epochs & ((1U << n) - 1)) == 0) break;

    const auto used = hw::FirstN(lanes, n);
    const auto tick = hw::Add(hw::Add(first_tick, hw::Mul(open, ticks_in_epoch)), time);
    hw::CompressStore(tick, hw::And(is_time, used), lanes, out.tick + done.n_hits);
    done.n_hits += static_cast<std::uint32_t>(
        hw::CompressStore(hw::And(word, value_mask), hw::And(is_id, used), lanes, out.channel + done.n_hits));
    epochs.open = hw::ExtractLane(open, n - 1) - 1;
    done.n_words += n;
    if (n + 1 < n_lanes) break;
  }
#endif
  return done;
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "formats/vector_choice.hpp"

namespace eventloom {

HWY_EXPORT(unpack_sparse_hits);
HWY_EXPORT(is_fast);

SparseHitUnpacker sparse_hit_unpacker() {
  choose_vectors();
  return HWY_DYNAMIC_DISPATCH(is_fast)() ? &HWY_DYNAMIC_DISPATCH(unpack_sparse_hits) : nullptr;
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

SparseHitUnpacker sparse_hit_unpacker() { return nullptr; }

}  // namespace eventloom

#endif
