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

/// Times of the pulses of NeXus events (NXevent_data), from datasets beside the events:
///
///   event_time_offset  per event: time since its pulse
///   event_index        per pulse: row of its first event
///   event_time_zero    per pulse: its time, since the attribute `offset` or `start`, if there is one
class PulseTimes {
 public:
  /// True when a dataset of this name or path holds times since pulses.
  static bool count_from_pulses(const std::string& path);
  /// Paths of the other two datasets for such a path.
  static std::string index_of(const std::string& path);
  static std::string zero_of(const std::string& path);

  /// `events` is the dataset of times since pulses. Throws UserError when the pulses are missing or contradict it.
  PulseTimes(const SourceUri& uri, const std::string& path, const ColumnReader& events, std::uint64_t tick_ps);

  /// Reference time of the pulses; std::nullopt when not stated.
  [[nodiscard]] const std::optional<UtcTime>& start() const { return start_; }

  /// Returns the time of an event's pulse; std::nullopt before the first pulse. `row` must ascend from call to call.
  [[nodiscard]] std::optional<TimeNumbers::Time> at(std::uint64_t row);
  /// The dataset of the pulses' times, for messages.
  [[nodiscard]] const std::string& name() const { return zero_.column().name(); }
  /// Whether the pulse that at() found last has no time.
  [[nodiscard]] bool lacks_time() const { return lacks_; }

 private:
  [[nodiscard]] TimeNumbers::Time time_of_pulse(std::size_t i);
  void next_block();
  [[noreturn]] void refuse(const std::string& reason) const;

  ColumnReader index_;
  TimeNumbers zero_;
  std::uint64_t rows_;  ///< number of events
  std::optional<UtcTime> start_;
  std::vector<std::uint64_t> first_rows_;  ///< first event rows of the pulses in the block
  std::uint64_t block_ = 0;                ///< first pulse of the block
  std::size_t next_ = 0;                   ///< index in the block of the next pulse
  std::uint64_t last_first_row_ = 0;
  std::optional<TimeNumbers::Time> pulse_;
  bool lacks_ = false;
};

}  // namespace eventloom
