#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The losses of a live stream as epoch buffers without words, between the buffers of its recording. All losses between
/// two buffers become one stretch. A loss without hits before the first buffer that is added is what the recorder has
/// missed since an earlier recording, of unknown size, and becomes a stretch of its own; a later one is a hole in which
/// the peer need not have had hits. Losses before the first buffer of a recording are left out, as are those without an
/// end, and copies, which a server sends again after a reconnection: they are no losses.
class RecordedLosses {
 public:
  /// Takes stored epoch buffers, in ascending epochs.
  using Put = std::function<void(std::span<const std::byte>)>;

  /// `end`: end of what an earlier recording holds, which this one continues; 0: none.
  explicit RecordedLosses(Epoch end = 0) : end_(end) {}

  /// Gives `put` whole stored epoch buffers and the losses before them. Both are in ascending epochs and after those
  /// added before.
  void add(std::span<const std::byte> buffers, std::span<const Damage> damage, const Put& put);
  /// Gives `put` the losses after the last buffer.
  void finish(const Put& put) { put_loss(std::numeric_limits<Epoch>::max(), put); }

  /// Hits of the losses that were left out.
  [[nodiscard]] std::uint64_t hits_left_out() const { return hits_left_out_; }

 private:
  /// Losses after the last buffer.
  struct Loss {
    std::uint64_t n_hits = 0;
    bool unknown = false;  ///< one of them is of unknown size
    EpochRange epochs{std::numeric_limits<Epoch>::max(), 0};
  };

  void note(const Damage& damage);
  void put_loss(Epoch before, const Put& put);
  bool put_stretch(std::uint64_t n_hits, Epoch before, const Put& put);

  Epoch end_;           ///< end of the data in the recording
  bool begun_ = false;  ///< a buffer has been added
  Loss loss_;
  std::uint64_t hits_left_out_ = 0;
};

}  // namespace eventloom
