#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/ids.hpp"
#include "io/hdf5_input/time_numbers.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

class PulseTimes;

/// The times of a source's hits, counted from the key `origin`, with `offset` added: a dataset of numbers, to which in
/// a group of NeXus events the times of the pulses are added that they count from.
class TimeColumn {
 public:
  /// `path`: of the dataset in the file. Throws UserError when the datasets or keys do not suit.
  TimeColumn(const SourceUri& uri, const std::string& path, std::uint64_t tick_ps);
  ~TimeColumn();

  [[nodiscard]] const ColumnReader& column() const { return numbers_.column(); }

  /// Appends the times of the rows from `row` on, whose hits have these channels, and for each whether it has none: it
  /// comes before tick 0, or before the first pulse. Rows rise from call to call. Throws UnreadableRows, and UserError
  /// for a time that is not a tick.
  void read(std::uint64_t row, std::span<const std::uint32_t> channels, std::vector<Tick>& out,
            std::vector<bool>& untimed);
  /// How often counters have wrapped around.
  [[nodiscard]] std::uint64_t turns() const { return numbers_.turns().turns(); }
  /// The longest time since a pulse that was read: the events of a pulse are in no order.
  [[nodiscard]] Tick longest_since_pulse() const;
  /// Reports the hits without a time, once.
  void report_untimed(const std::string& source);

  /// The datasets besides `time` from which such times are made; all paths are relative to the same group.
  static std::vector<std::string> companions(const std::string& time);

 private:
  [[nodiscard]] std::optional<Tick> tick(std::uint64_t row, std::size_t i, std::uint32_t channel);

  TimeNumbers numbers_;
  std::unique_ptr<PulseTimes> pulses_;  ///< null: the times do not count from pulses
  bool shifted_;                        ///< by an origin or offset: negative times are no error
  FineTicks begin_;                     ///< the time that becomes tick 0
  FineTicks longest_ = 0;               ///< since a pulse
  std::uint64_t before_tick_0_ = 0;
  std::uint64_t before_pulses_ = 0;
};

}  // namespace eventloom
