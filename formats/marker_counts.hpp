#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/markers.hpp"

namespace eventloom {

/// Markers of a stream that are neither epochs nor hits. Events do not contain them.
enum class OtherMarker : std::uint8_t { peak, tag, histogram, schedule };
inline constexpr std::size_t kOtherMarkers = 4;

/// Counts of these markers by kind.
class MarkerCounts {
 public:
  using Numbers = std::array<std::uint64_t, kOtherMarkers>;

  void count(OtherMarker marker) { ++n_[static_cast<std::size_t>(marker)]; }
  void add(const MarkerCounts& other) {
    for (std::size_t i = 0; i < n_.size(); ++i) n_[i] += other.n_[i];
  }
  [[nodiscard]] std::uint64_t operator[](OtherMarker marker) const { return n_[static_cast<std::size_t>(marker)]; }
  [[nodiscard]] bool any() const { return n_ != Numbers{}; }
  [[nodiscard]] const Numbers& numbers() const { return n_; }
  static MarkerCounts of(const Numbers& numbers) {
    MarkerCounts counts;
    counts.n_ = numbers;
    return counts;
  }
  friend bool operator==(const MarkerCounts&, const MarkerCounts&) = default;

 private:
  Numbers n_{};
};

/// Text such as "3 peaks (P), 1 histogram (H1)"; empty if there are none.
std::string text_of(const MarkerCounts& counts);

/// Base of MarkerReader visitors that use only epochs and hits: counts all other markers.
struct CountsMarkers {
  MarkerCounts others = {};

  void tag(std::uint32_t) { others.count(OtherMarker::tag); }
  void peak(Peak) { others.count(OtherMarker::peak); }
  void histogram(std::uint32_t, std::span<const std::uint32_t>) { others.count(OtherMarker::histogram); }
  void schedule(std::span<const std::uint32_t>) { others.count(OtherMarker::schedule); }
};

}  // namespace eventloom
