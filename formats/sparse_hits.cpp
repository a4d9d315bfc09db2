#include "formats/plain_hits.hpp"

#ifdef EVENTLOOM_HAS_HIGHWAY

// Highway compiles this file once for each kind of processor and chooses among them when the program runs.
// Only vectors of 16 lanes are fast here, see is_fast().
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2)
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

using Words = hw::CappedTag<std::uint32_t, kPlainVector>;
using Vector = hw::Vec<Words>;
using Mask = hw::Mask<Words>;

/// Eight lanes take longer than reading hit by hit: too few hits share the work, and no instruction compresses a
/// vector.
bool is_fast() { return hw::Lanes(Words()) == kPlainVector; }

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE std::uint32_t bits_of(Mask mask) {
  std::uint32_t bits = 0;
  hw::StoreMaskBits(Words(), mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

HWY_INLINE Mask mask_of(std::uint64_t bits) {
  return hw::LoadMaskBits(Words(), reinterpret_cast<const std::uint8_t*>(&bits));
}

using LaneNumbers = std::array<std::int32_t, hw::MaxLanes(Words())>;

/// Each lane's predecessor at this distance; the first lanes have lane 0.
LaneNumbers lanes_before(std::int32_t distance) {
  LaneNumbers from;
  std::iota(from.begin(), from.end(), -distance);
  for (auto& lane : from) lane = std::max(lane, 0);
  return from;
}

LaneNumbers last_lane() {
  LaneNumbers from;
  from.fill(static_cast<std::int32_t>(hw::Lanes(Words())) - 1);
  return from;
}

/// Fills each lane from another.
class LanesFrom {
 public:
  explicit LanesFrom(const LaneNumbers& from) : indices_(hw::SetTableIndices(Words(), from.data())) {}
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
  LanesFrom one_{lanes_before(1)};
  LanesFrom two_{lanes_before(2)};
  LanesFrom four_{lanes_before(4)};
  LanesFrom eight_{lanes_before(8)};
};

constexpr std::uint32_t kAllWords = (1U << kPlainVector) - 1;

/// The kinds of the words of a vector, a bit per word.
struct Kinds {
  std::uint32_t epochs;
  std::uint32_t singles;  ///< T markers of one ID
  std::uint32_t pairs;    ///< T markers of two IDs
  std::uint32_t ids;
  std::uint32_t present;

  [[nodiscard]] std::uint32_t times() const { return singles | pairs; }
  /// Returns a bit for each word that must be an ID, in the vector and the two words after it. `before`: those that the
  /// words before the vector require.
  [[nodiscard]] std::uint32_t required_ids(std::uint32_t before) const { return times() << 1 | pairs << 2 | before; }
  /// Number of words up to the first that is not plain.
  [[nodiscard]] std::uint32_t usable(std::uint32_t required) const {
    const std::uint32_t right = (epochs | times() | ids) & ~(ids ^ required) & present & kAllWords;
    return static_cast<std::uint32_t>(std::countr_one(right));
  }
};

/// Excludes the words at the end that belong to a T marker whose last ID is missing.
HWY_INLINE void drop_incomplete(std::span<const std::uint32_t> words, PlainHits& done) {
  const auto is_time_with = [&](std::size_t before_end, std::uint32_t ids) {
    if (done.n_words < before_end) return false;
    const auto word = words[done.n_words - before_end];
    return marker_type(word) == MarkerType::time && marker_value(word) >> 19 == ids;
  };
  if (is_time_with(1, 1) || is_time_with(1, 2)) {
    done.n_words -= 1;
  } else if (is_time_with(2, 2)) {
    done.n_words -= 2;
    done.n_hits -= 1;
  }
}

/// Reads one vector of words after another.
class VectorReader {
 public:
  VectorReader(const EpochCount& epochs, PlainHitColumns out)
      : out_(out),
        ticks_in_epoch_(hw::Set(lanes_, epochs.epoch_ticks)),
        before_first_(hw::Set(lanes_, epochs.first_epoch - 1)),
        first_tick_(hw::Set(lanes_, epochs.first_tick - epochs.epoch_ticks)),
        end_(hw::Set(lanes_, epochs.end + 1)),
        open_(hw::Set(lanes_, epochs.open + 1)) {}

  /// Reads the vector at `at`, or only `n_words` of it, and returns the number of plain words at its beginning. A
  /// vector that has other words must be the last one.
  template <bool kWhole>
  HWY_INLINE std::size_t read(const std::uint32_t* at, std::size_t n_words = kPlainVector) {
    const auto present = hw::FirstN(lanes_, n_words);
    const auto load = [&](const std::uint32_t* from) {
      return kWhole ? hw::LoadU(lanes_, from) : hw::MaskedLoad(present, lanes_, from);
    };
    const auto word = load(at);
    const auto time = hw::And(word, time_mask_);
    const auto head = hw::AndNot(time_mask_, word);
    const auto is_epoch = hw::Lt(word, end_of_values_);
    const auto is_single = hw::Eq(head, of_single_);
    const auto is_pair = hw::Eq(head, of_pair_);
    const auto opened = hw::IfThenElseZero(is_epoch, hw::And(hw::Sub(word, before_first_), value_mask_));
    const auto open = hw::Max(greatest_so_far_(opened), open_);
    const auto open_before = hw::IfThenElse(hw::FirstN(lanes_, 1), open_, previous_(open));
    const auto right_epoch = hw::And(hw::Gt(opened, open_before), hw::Lt(opened, end_));
    const auto right_time = hw::Lt(time, ticks_in_epoch_);
    const Kinds kinds{.epochs = bits_of(hw::And(is_epoch, right_epoch)),
                      .singles = bits_of(hw::And(is_single, right_time)),
                      .pairs = bits_of(hw::And(is_pair, right_time)),
                      .ids = bits_of(hw::Eq(hw::AndNot(value_mask_, word), of_id_)),
                      .present = kWhole ? kAllWords : bits_of(present)};
    required_ = kinds.required_ids(required_);
    const std::uint32_t n = kinds.usable(required_);

    // An ID belongs to the time one or two words before it.
    follows_time_ |= kinds.times() << 1;
    const auto time_before = hw::IfThenElse(mask_of(follows_time_), load(at - 1), load(at - 2));
    const auto epoch_begin = hw::Add(first_tick_, hw::Mul(open, ticks_in_epoch_));
    const auto tick = hw::Add(epoch_begin, hw::And(time_before, time_mask_));
    const std::uint32_t hits = kinds.ids & ((1U << n) - 1);
    hw::StoreU(hw::Compress(tick, mask_of(hits)), lanes_, out_.tick + n_hits_);
    hw::StoreU(hw::Compress(hw::And(word, value_mask_), mask_of(hits)), lanes_, out_.channel + n_hits_);
    n_hits_ += static_cast<std::uint32_t>(std::popcount(hits));
    if (n == kPlainVector) {
      open_ = last_(open);
    } else if (n != 0) {
      open_ = hw::Set(lanes_, hw::ExtractLane(open, n - 1));
    }
    follows_time_ >>= kPlainVector;
    required_ >>= kPlainVector;
    return n;
  }

  [[nodiscard]] std::uint32_t n_hits() const { return n_hits_; }
  [[nodiscard]] std::uint32_t open_epoch() const { return hw::GetLane(open_) - 1; }

 private:
  const Words lanes_;
  const Vector value_mask_ = hw::Set(lanes_, kValueMask);
  const Vector end_of_values_ = hw::Set(lanes_, kValueMask + 1);
  const Vector time_mask_ = hw::Set(lanes_, kTimeMask);
  const Vector of_single_ = hw::Set(lanes_, encode_time(0, 1));
  const Vector of_pair_ = hw::Set(lanes_, encode_time(0, 2));
  const Vector of_id_ = hw::Set(lanes_, encode_marker(MarkerType::channel, 0));
  const LanesFrom last_{last_lane()};
  const LanesFrom previous_{lanes_before(1)};
  const GreatestSoFar greatest_so_far_;
  PlainHitColumns out_;
  // Epochs count from 1 here, so that lanes without one are 0.
  Vector ticks_in_epoch_;
  Vector before_first_;
  Vector first_tick_;
  Vector end_;
  Vector open_;  ///< the epoch to which the next hits belong, in every lane
  std::uint32_t n_hits_ = 0;
  std::uint32_t follows_time_ = 0;  ///< bit 0: the word before the vector is a T marker
  std::uint32_t required_ = 0;      ///< IDs that the words before the vector require in it
};

PlainHits unpack_sparse_hits(std::span<const std::uint32_t> words, EpochCount& epochs, PlainHitColumns out) {
  VectorReader reader(epochs, out);
  PlainHits done{0, 0};
  std::size_t n = kPlainVector;
  while (n == kPlainVector && words.size() - done.n_words >= kPlainVector) {
    n = reader.read<true>(words.data() + done.n_words);
    // The next vector must not wait for n.
    done.n_words += n == kPlainVector ? kPlainVector : n;
  }
  if (n == kPlainVector) {
    done.n_words += reader.read<false>(words.data() + done.n_words, words.size() - done.n_words);
  }
  done.n_hits = reader.n_hits();
  epochs.open = reader.open_epoch();
  drop_incomplete(words, done);
  return done;
}

#else

PlainHits unpack_sparse_hits(std::span<const std::uint32_t>, EpochCount&, PlainHitColumns) { return {0, 0}; }

#endif

}  // namespace eventloom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "formats/vector_choice.hpp"

namespace eventloom {

HWY_EXPORT(unpack_sparse_hits);
HWY_EXPORT(is_fast);

PlainHitUnpacker sparse_hit_unpacker() {
  choose_vectors();
  return HWY_DYNAMIC_DISPATCH(is_fast)() ? &HWY_DYNAMIC_DISPATCH(unpack_sparse_hits) : dense_hit_unpacker();
}

}  // namespace eventloom
#endif

#else

namespace eventloom {

PlainHitUnpacker sparse_hit_unpacker() { return dense_hit_unpacker(); }

}  // namespace eventloom

#endif
