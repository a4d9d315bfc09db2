#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Stretches of time in which a recording has had hits so far, with the number of hits in each. Memory is bounded; gaps
/// between stretches that are short compared with the others are forgotten.
class SeenTime {
 public:
  /// Adds hits in ascending order, none earlier than any before.
  void run_on(std::span<const Tick> times);

  [[nodiscard]] bool any() const { return !stretches_.empty(); }
  [[nodiscard]] Tick first() const { return stretches_.front().begin; }
  /// End of the first stretch.
  [[nodiscard]] Tick first_end() const { return stretches_.front().end; }
  /// Approximate number of hits between two times, without these.
  [[nodiscard]] double hits_between(Tick from, Tick to) const;
  /// Whether a time lies inside a stretch.
  [[nodiscard]] bool covers(Tick time) const;
  /// Forgets gaps until stretches have enough hits to show that a gap is one, instead of a pause between rare hits.
  void forget_rare();

 private:
  struct Stretch {
    Tick begin = 0;
    Tick end = 0;
    std::uint64_t hits = 0;
  };

  void forget_gaps(std::size_t most);
  [[nodiscard]] std::vector<Stretch>::const_iterator last_before(Tick time) const;

  Tick apart_ = 1;  ///< longest gap within a stretch
  std::vector<Stretch> stretches_;
  std::uint64_t hits_ = 0;
};

}  // namespace eventloom
