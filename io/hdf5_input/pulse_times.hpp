#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/utc_time.hpp"
#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/time_numbers.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// NeXus events (NXevent_data) have the times of their pulses in datasets beside their own:
///
///   event_time_offset  of each event, since its pulse
///   event_index        of each pulse, the row of its first event
///   event_time_zero    of each pulse, its time, since the attribute `offset` or `start`, if there is one
class PulseTimes {
 public:
  /// Whether a dataset of this name or path holds times since pulses.
  static bool count_from_pulses(const std::string& path);
  /// The other two datasets for such a path.
  static std::string index_of(const std::string& path);
  static std::string zero_of(const std::string& path);

  /// `events`: the dataset of times since pulses. Throws UserError when the pulses are missing or contradict it.
  PulseTimes(const SourceUri& uri, const std::string& path, const ColumnReader& events, std::uint64_t tick_ps);

  /// What the times of pulses count from; nothing when that is not stated.
  [[nodiscard]] const std::optional<UtcTime>& start() const { return start_; }

  /// The time of the pulse of an event; rows rise from call to call. Nothing for events before the first pulse.
  [[nodiscard]] std::optional<TimeNumbers::Time> at(std::uint64_t row);

 private:
  void next_block();
  [[noreturn]] void refuse(const std::string& reason) const;

  ColumnReader index_;
  TimeNumbers zero_;
  std::uint64_t rows_;  ///< events
  std::optional<UtcTime> start_;
  std::vector<std::uint64_t> first_rows_;  ///< of the pulses of a block
  std::uint64_t block_ = 0;                ///< its first pulse
  std::size_t next_ = 0;                   ///< pulse of the block that has not begun
  std::uint64_t last_first_row_ = 0;
  std::optional<TimeNumbers::Time> pulse_;
};

}  // namespace eventloom
