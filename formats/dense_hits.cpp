#include "formats/plain_hits.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formats/dense_hits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace eventloom::HWY_NAMESPACE {

namespace hw = hwy::HWY_NAMESPACE;

using Pairs = hw::ScalableTag<std::uint32_t>;

/// Reads vectors of T markers with one ID each.
class PairReader {
 public:
  explicit PairReader(std::uint32_t epoch_ticks) : ticks_in_epoch_(hw::Set(lanes_, epoch_ticks)) {}

  /// Reads up to the first other words, or until fewer are left than fill two vectors. `epoch_begin`: first tick of
  /// their epoch.
  HWY_INLINE void read(std::span<const std::uint32_t> words, std::uint32_t epoch_begin, PlainHitColumns out,
                       PlainHits& done) const {
    const auto first_tick = hw::Set(lanes_, epoch_begin);
    const std::size_t n_lanes = hw::Lanes(lanes_);
    while (words.size() - done.n_words >= 2 * n_lanes) {
      auto times = hw::Undefined(lanes_);
      auto ids = hw::Undefined(lanes_);
      hw::LoadInterleaved2(lanes_, words.data() + done.n_words, times, ids);
      const auto time = hw::And(times, time_mask_);
      const auto types =
          hw::Or(hw::Xor(hw::AndNot(time_mask_, times), of_time_), hw::Xor(hw::AndNot(value_mask_, ids), of_id_));
      const auto wrong = hw::Or(hw::Ne(types, hw::Zero(lanes_)), hw::Not(hw::Lt(time, ticks_in_epoch_)));
      hw::StoreU(hw::Add(first_tick, time), lanes_, out.tick + done.n_hits);
      hw::StoreU(hw::And(ids, value_mask_), lanes_, out.channel + done.n_hits);
      const auto stop = hw::FindFirstTrue(lanes_, wrong);
      const auto n = stop >= 0 ? static_cast<std::uint32_t>(stop) : static_cast<std::uint32_t>(n_lanes);
      done.n_words += std::size_t{2} * n;
      done.n_hits += n;
      if (stop >= 0) return;
    }
  }

 private:
  const Pairs lanes_;
  const hw::Vec<Pairs> value_mask_ = hw::Set(lanes_, kValueMask);
  const hw::Vec<Pairs> time_mask_ = hw::Set(lanes_, kTimeMask);
  const hw::Vec<Pairs> of_time_ = hw::Set(lanes_, encode_time(0, 1));
  const hw::Vec<Pairs> of_id_ = hw::Set(lanes_, encode_marker(MarkerType::channel, 0));
  hw::Vec<Pairs> ticks_in_epoch_;
};

PlainHits unpack_dense_hits(std::span<const std::uint32_t> words, EpochCount& epochs, PlainHitColumns out) {
  static_assert(hw::MaxLanes(Pairs()) <= kPlainVector);
  const PairReader pairs(epochs.epoch_ticks);
  PlainHits done{0, 0};
  do {
    pairs.read(words, epochs.first_tick + epochs.open * epochs.epoch_ticks, out, done);
  } while (read_plain_group(words, epochs, out, done));
  return done;
}

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "formats/vector_choice.hpp"

namespace eventloom {

HWY_EXPORT(unpack_dense_hits);

PlainHitUnpacker dense_hit_unpacker() {
  choose_vectors();
  return &HWY_DYNAMIC_DISPATCH(unpack_dense_hits);
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

namespace {

PlainHits unpack_word_by_word(std::span<const std::uint32_t> words, EpochCount& epochs, PlainHitColumns out) {
  PlainHits done{0, 0};
  while (read_plain_group(words, epochs, out, done)) {
  }
  return done;
}

}  // namespace

PlainHitUnpacker dense_hit_unpacker() { return unpack_word_by_word; }

}  // namespace eventloom

#endif
