#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/error.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// How long a stream of a run may have nothing. A run sends and builds every slice, the empty ones too, so
/// two hits far apart would keep it busy for years.
struct GapLimit {
  /// Minutes of a run, and some 10 GB of ledger.
  static constexpr std::uint64_t kEmptySlices = 100'000'000;

  std::uint64_t epochs_per_slice = 1;

  /// Throws UserError that says what to do when there are more empty slices in `gap` of stream `name`. No gap
  /// when its end is not behind its begin.
  void check(const std::string& name, EpochRange gap) const {
    if (gap.end <= gap.begin || (gap.end - gap.begin) / epochs_per_slice <= kEmptySlices) return;
    throw UserError("'" + name + "': nothing comes from epoch " + std::to_string(gap.begin) + " to epoch " +
                    std::to_string(gap.end) + ", " + std::to_string((gap.end - gap.begin) / epochs_per_slice) +
                    " empty slices; at most " + std::to_string(kEmptySlices) +
                    " are built: use longer --epochs-per-slice, or cut the recording there");
  }
};

}  // namespace eventloom
