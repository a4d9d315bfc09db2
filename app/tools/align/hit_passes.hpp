#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/detector/detector.hpp"
#include "formats/payload_kind.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// A hit of an alignment. Its time is corrected by the detector, in ticks since the first epoch with data, so that
/// differences do not overflow.
struct AlignHit {
  std::int64_t time = 0;
  std::uint32_t channel = 0;
  std::uint16_t source = 0;
};

/// Reads all hits of recordings, any number of times, all sources together in time order and in constant memory.
class HitPasses {
 public:
  /// Throws UserError for sources whose hits have no times that could be aligned: live ones, event numbers,
  /// time-sorted hits of a run, and for sources of different clocks or numbers of words. The arguments must outlive
  /// this object.
  HitPasses(const std::vector<SourceSpec>& specs, const TimeBaseOptions& base);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::uint64_t tick_ps() const { return clock_.tick_ps; }

  /// Passes the hits, corrected by the offsets of `detector`, in pieces: each later than the last, ascending in time
  /// within itself. Leaves out hits of masked channels and hits that the detector cuts.
  void read(const Detector& detector, const std::function<void(std::span<const AlignHit>)>& take);
  /// Whether some data could not be read in the last pass.
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  [[nodiscard]] std::vector<std::unique_ptr<Source>> open_all() const;
  /// Appends the hits of a source in these epochs, with times since the tick `origin`.
  void collect(Source& source, std::uint16_t number, EpochRange epochs, Tick origin, const Detector& detector,
               std::vector<AlignHit>& hits);

  const std::vector<SourceSpec>& specs_;
  TimeBaseOptions base_;
  std::vector<std::string> names_;
  std::vector<PayloadKind> kinds_;  ///< kinds of the first payload column, indexed by source
  TimeBase clock_;
  bool damaged_ = false;
};

}  // namespace eventloom
