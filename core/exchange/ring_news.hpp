#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ring/ring_consumer.hpp"

namespace eventloom {

/// Which rings of one receiver to examine: all of them or, if the transport reports where others have
/// written, those whose descriptors have changed.
class RingNews {
 public:
  explicit RingNews(std::span<const RingConsumer> rings);

  /// The indices of the rings that may have changed since the last call, ascending.
  [[nodiscard]] std::span<const std::size_t> changed();
  /// Includes this ring in the next changed(), since it holds more.
  void look_again(std::size_t ring) { again_.push_back(ring); }

 private:
  struct Place {
    std::uint64_t begin = 0;  ///< beginning of its descriptors in the window
    std::uint64_t end = 0;
    std::size_t ring = 0;
  };
  void add_ring_at(std::uint64_t offset);

  Transport* window_ = nullptr;
  std::vector<Place> places_;  ///< sorted by `begin`
  std::vector<std::size_t> all_;
  std::vector<std::size_t> again_;
  std::vector<std::size_t> changed_;
  std::uint64_t mark_ = 0;  ///< see Transport::written_since()
};

}  // namespace eventloom
