#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/sources/hit_reader.hpp"

namespace eventloom {

/// Brings the hits of a reader into the order of time; hits of equal time keep the order in which
/// they were recorded. Recordings are only nearly in order: a hit may come up to `capacity` hits
/// later than its time says. Holds at most twice as many and what the reader gives at a time.
class ReorderBuffer {
 public:
  /// `reader` must outlive the buffer.
  ReorderBuffer(HitReader& reader, std::size_t capacity);

  struct Hit {
    Tick time = 0;
    std::uint32_t channel = 0;
    std::span<const std::uint32_t> payload;  ///< valid until the next call of next()
  };
  /// The next hit; false at the end. Throws UserError when a hit comes later than the buffer can
  /// mend: with the source, the number of the hit and how far back it lies.
  bool next(Hit& hit);

 private:
  void refill();
  void drop_used();
  void read_more();
  void sort();
  void require_mendable() const;

  HitReader& reader_;
  std::size_t capacity_;
  std::size_t payload_words_;
  HitBlock block_;
  HitBlock hits_;                     ///< in the order of recording
  std::vector<std::uint32_t> order_;  ///< positions in hits_, in the order of time
  std::size_t used_ = 0;              ///< of order_
  std::size_t ready_ = 0;             ///< of order_, that may be given out
  std::uint64_t read_ = 0;            ///< hits taken from the reader
  Tick last_ = 0;                     ///< time of the last hit given out
  bool any_ = false;
  bool ended_ = false;
};

}  // namespace eventloom
