#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/event.hpp"
#include "formats/ids.hpp"
#include "formats/ring_layout.hpp"
#include "formats/slice_range.hpp"

namespace eventloom {

/// All messages of one slice, by origin.
class SliceAssembly {
 public:
  struct Part {
    /// Words of 8 bytes, for alignment. Keeps its capacity between slices.
    std::vector<std::uint64_t> memory;
    std::uint64_t total_bytes = 0;
    std::uint64_t got_bytes = 0;
    std::uint32_t n_damage = 0;
    bool begun = false;  ///< a chunk has arrived; not for an origin that had ended before or has nothing
    bool complete = false;
    bool lent = false;  ///< the buffers are not here, see LentSlices

    [[nodiscard]] std::span<const std::byte> body() const {
      return std::as_bytes(std::span(memory)).first(total_bytes);
    }
    /// The body without the damage records at its beginning.
    [[nodiscard]] std::span<const std::byte> buffers() const { return body().subspan(n_damage * sizeof(Damage)); }
    /// Makes the part consist of this damage only.
    void lack(std::span<const Damage> missing);
    [[nodiscard]] std::span<const Damage> damage() const {
      return {reinterpret_cast<const Damage*>(memory.data()), n_damage};
    }
  };

  explicit SliceAssembly(std::size_t n_origins) : parts_(n_origins) {}

  [[nodiscard]] const Part& part(std::size_t origin) const { return parts_[origin]; }
  /// Whether any origin has data in this slice or a later one.
  [[nodiscard]] bool has_more() const { return has_more_; }

 private:
  friend class SliceAssembler;
  std::vector<Part> parts_;
  bool has_more_ = false;
};

/// Treatment of the bodies of messages.
enum class Bodies {
  kept,
  counted,  ///< for simulations, where bodies exist only as lengths: they are neither stored nor readable
};

/// Assembles chunks to slices. Memory is bounded by the slice limit that the owner grants the senders, which send the
/// slices of one receiver in ascending order.
class SliceAssembler {
 public:
  explicit SliceAssembler(std::size_t n_origins, Bodies bodies = Bodies::kept);

  /// Copies `body`, whose checksum has been verified, to its place. Throws std::runtime_error if the chunk contradicts
  /// itself or earlier ones.
  void place(const ChunkHeader& header, std::span<const std::byte> body);

  /// Whether every origin has sent its part of `slice`, has nothing for it, or has ended.
  [[nodiscard]] bool complete(SliceId slice) const;
  /// One past the last slice, from `slice`, for which `origin` is known to have nothing; `slice` if there is none.
  [[nodiscard]] SliceId nothing_up_to(std::size_t origin, SliceId slice) const;
  /// Likewise for all origins together.
  [[nodiscard]] SliceId nothing_up_to(SliceId slice) const;
  /// Whether any origin has sent data of `slice`, and it has not been taken.
  [[nodiscard]] bool holds(SliceId slice) const { return slices_.contains(slice); }
  /// Removes a complete slice; call in ascending order. Parts of origins that had ended, or have nothing for it, hold
  /// only their damage.
  [[nodiscard]] std::unique_ptr<SliceAssembly> take(SliceId slice);
  /// No slice before `end` will be taken any more.
  void pass(SliceId end);
  /// Returns the memory for another slice.
  void recycle(std::unique_ptr<SliceAssembly> assembly);

  [[nodiscard]] bool all_ended() const { return n_ended_ == origins_.size(); }
  /// One past the last slice with data of any origin that has ended.
  [[nodiscard]] SliceId data_end() const { return data_end_; }

 private:
  struct Gap {
    SliceRange slices;
    std::vector<Damage> damage;  ///< damage records that contain the slices
  };
  static SliceId first_of(const Gap& gap) { return gap.slices.begin; }
  struct Origin {
    SliceId passed{};          ///< earlier slices get no more data
    SliceId end{};             ///< end of its data, once it has ended
    std::vector<Gap> gaps;     ///< gaps that end after begin_, sorted by first slice
    std::vector<Damage> tail;  ///< damage after its end
    bool ended = false;
  };

  SliceAssembly& assembly_of(SliceId slice);
  void end(const ChunkHeader& header, std::span<const std::byte> body);
  void gap(const ChunkHeader& header, std::span<const std::byte> body);
  [[nodiscard]] const Gap* gap_of(std::size_t origin, SliceId slice) const;
  [[nodiscard]] std::span<const Damage> missing(std::size_t origin, SliceId slice) const;

  /// The slice of the last complete() call, and from how many origins it is complete: the next call continues there.
  struct Asked {
    SliceId slice{};
    std::size_t complete = 0;
  };

  Bodies bodies_;
  mutable Asked asked_;
  std::map<SliceId, std::unique_ptr<SliceAssembly>> slices_;
  std::vector<std::unique_ptr<SliceAssembly>> spare_;
  std::vector<Origin> origins_;
  std::size_t n_ended_ = 0;
  SliceId data_end_{};
  SliceId begin_{};  ///< earlier slices will not be taken any more
};

}  // namespace eventloom
