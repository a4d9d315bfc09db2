#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/utc_time.hpp"
#include "io/hdf5_input/value_column.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the numbers of a dataset of times to ticks. The dataset's add_offset is either `steps`, to be added to the
/// numbers, or `offset`, to be added to the times.
struct TimeScale {
  TickScale ticks;
  std::int64_t steps = 0;  ///< whole numbers only
  FineTicks offset = 0;
};

/// Scale from the numbers of a dataset of times to ticks, with its attributes `scale_factor` and `add_offset`. The unit
/// comes from the key `unit`, from the attribute `units` or `unit` ("ns", "seconds"; or `tick_ps` in Eventloom's own
/// files), or from the dataset's name (time_ns). Throws UserError when none of them states it, or when the attribute
/// contradicts the key or, without a key, the name. "ticks" and "counts" of a clock that the file does not describe are
/// no units.
TimeScale time_scale_of(const SourceUri& uri, const ValueColumn& values, std::uint64_t tick_ps);

/// The time from which the numbers of a dataset count: "ns since 2026-11-21 10:00:00" (CF conventions, netCDF).
struct StatedReference {
  std::string attribute;        ///< and its text
  std::optional<UtcTime> time;  ///< std::nullopt: it is not understood
};
/// std::nullopt when the attribute of the unit states none.
std::optional<StatedReference> stated_reference(const ColumnReader& column);

/// Likewise the time that the key `origin` refers to where it is UTC; std::nullopt when none is stated, or `origin` is
/// a length, from the number 0. Throws UserError without `origin`: the date would be ignored.
std::optional<UtcTime> reference_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps);

/// Like time_scale_of() for the times of pulses, but the attribute has priority: `unit` is also the unit of the times
/// since a pulse.
TimeScale pulse_scale_of(const SourceUri& uri, const ValueColumn& values, std::uint64_t tick_ps);

}  // namespace eventloom
