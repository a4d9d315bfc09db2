#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/align/align_units.hpp"
#include "app/tools/align/hit_passes.hpp"
#include "app/tools/align/pair_histograms.hpp"
#include "app/tools/align/pair_solution.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// Lengths are in ticks.
struct AlignSettings {
  AlignBy by = AlignBy::channel;
  std::string reference;    ///< unit whose offset stays; empty: the first with enough coincidences
  std::int64_t window = 0;  ///< aligned hits are shown as coincident up to this time difference
  std::int64_t search = 0;  ///< offsets between two units are searched up to this difference
};

/// The result for one unit.
struct UnitAlignment {
  std::optional<Solved> offset;  ///< ticks to add to its times; std::nullopt: too few coincidences
  std::optional<Solved> drift;   ///< change of the offset to add, ticks per second; std::nullopt: unknown
  double coincidences = 0;       ///< sum over all units that it was paired with
};

/// Time differences of all pairs together, within the window.
struct DifferenceSpectrum {
  DifferenceBins bins;
  std::vector<std::uint64_t> counts;
};

struct Alignment {
  AlignUnits units;
  std::size_t reference = 0;
  std::vector<UnitAlignment> found;  ///< indexed by unit
  double width = 0;                  ///< median standard deviation of the pairs' peaks, ticks
  DifferenceSpectrum before;
  DifferenceSpectrum after;
  bool damaged = false;  ///< some data could not be read
};

/// Offsets of units relative to the reference, on top of those of `detector`, from the time differences of coincident
/// hits: the peak of each pair of units, then least squares over the pairs. Reads the recordings several times. Throws
/// UserError if there are fewer than two units, more than kMostUnits, no such reference, or no coincidences.
Alignment align(HitPasses& passes, const Detector& detector, const AlignSettings& settings);
inline constexpr std::size_t kMostUnits = 1024;

}  // namespace eventloom
