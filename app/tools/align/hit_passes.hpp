#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/detector/detector.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// A hit of an alignment: its time in ticks, corrected by the detector.
struct AlignHit {
  std::int64_t time = 0;
  std::uint32_t channel = 0;
  std::uint16_t source = 0;
};

/// Reads all hits of recordings, any number of times, all sources together in time order and in constant memory. Leaves
/// out hits of masked channels and hits that the detector cuts.
class HitPasses {
 public:
  /// Throws UserError for sources whose hits have no times that could be aligned: live ones, event numbers,
  /// time-sorted hits of a run, and for sources of different clocks. The arguments must outlive this object.
  HitPasses(const std::vector<SourceSpec>& specs, const TimeBaseOptions& base);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::uint64_t tick_ps() const { return clock_.tick_ps; }
  /// The detector whose offsets, masks and cuts apply; null: none do.
  void correct_by(const Detector* detector) { detector_ = detector; }

  /// Passes the hits in pieces: each later than the last, ascending in time within itself.
  void read(const std::function<void(std::span<const AlignHit>)>& take);
  /// Whether some data could not be read in the last pass.
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  [[nodiscard]] std::vector<std::unique_ptr<Source>> open_all() const;
  void collect(Source& source, std::uint16_t number, EpochRange epochs, std::vector<AlignHit>& hits);

  const std::vector<SourceSpec>& specs_;
  TimeBaseOptions base_;
  std::vector<std::string> names_;
  TimeBase clock_;
  const Detector* detector_ = nullptr;
  bool damaged_ = false;
};

}  // namespace eventloom
