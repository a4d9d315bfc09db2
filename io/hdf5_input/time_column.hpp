#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/ids.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/time_numbers.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

class PulseTimes;

/// Reads the times of a source's hits, relative to the key `origin`, with `offset` added. With the key `coarse`, adds
/// steps of `coarse-unit` that another dataset counts, or subtracts the dataset's numbers from them, see
/// subtracts_time(). For NeXus events, adds the times of their pulses to the dataset's numbers.
class TimeColumn {
 public:
  /// `path` is the path of the dataset in the file, `coarse_path` that of the coarse one, if there is one. Throws
  /// UserError when datasets or keys are unsuitable.
  TimeColumn(const SourceUri& uri, const std::string& path, const std::string& coarse_path, std::uint64_t tick_ps);
  ~TimeColumn();

  [[nodiscard]] const ColumnReader& column() const { return numbers_.column(); }
  /// One past the last row stored contiguously with `row` in each of its datasets.
  [[nodiscard]] std::uint64_t piece_end(std::uint64_t row) const;

  /// Reads the numbers of the rows [row, row + n), and marks those that have none as lost. Each `row` must be
  /// later than the ones before. Throws UnreadableRows.
  void load(std::uint64_t row, std::size_t n, LostRows& lost);
  /// Appends the times of these rows, whose hits have these channels. A row that is lost gets time 0. Marks those as
  /// lost whose pulse has no time, or whose time lies before tick 0 or before the first pulse (untimed); a
  /// channel without a unit makes a bad row. Throws UserError for a time that is not a tick.
  void read(std::span<const std::uint32_t> channels, std::vector<Tick>& out, LostRows& lost);
  /// The counter, if the times are one: the coarse dataset's, if there is one.
  [[nodiscard]] ClockTurns& turns() { return (coarse_ ? *coarse_ : numbers_).turns(); }
  [[nodiscard]] const ClockTurns& turns() const { return (coarse_ ? *coarse_ : numbers_).turns(); }
  /// The counter of the times, the coarse one if there are two; std::nullopt if times count from pulses.
  [[nodiscard]] std::optional<RawClock> raw_clock() const;
  /// The longest time since a pulse read so far: the events of a pulse are unordered.
  [[nodiscard]] Tick longest_since_pulse() const;
  /// Reports the hits without a time, once.
  void report_untimed(const std::string& source);

  /// The datasets besides `time` that such times need; all paths are relative to the same group.
  static std::vector<std::string> companions(const std::string& time);

 private:
  void add_coarse(std::size_t i, std::uint32_t channel, TimeNumbers::Time& time);
  [[nodiscard]] bool add_pulse(std::size_t i, TimeNumbers::Time& time, LostRows& lost);
  [[nodiscard]] std::optional<Tick> tick_or_bad(std::size_t i, std::uint32_t channel, LostRows& lost);
  [[nodiscard]] std::optional<Tick> tick(std::size_t i, std::uint32_t channel, LostRows& lost);
  [[noreturn]] void reject(std::size_t i, std::optional<FineTicks> time, const TickScale& scale) const;

  TimeNumbers numbers_;
  std::optional<TimeNumbers> coarse_;   ///< steps to be added to the numbers, by the key `coarse`
  std::unique_ptr<PulseTimes> pulses_;  ///< null when times do not count from pulses
  bool shifted_;                        ///< has an origin or offset: negative times are not an error
  bool numbered_;                       ///< times are event numbers
  FineTicks begin_;                     ///< the time that becomes tick 0
  std::uint64_t row_ = 0;               ///< first of the loaded rows
  FineTicks longest_ = 0;               ///< longest time since a pulse
  std::uint64_t before_tick_0_ = 0;
  std::uint64_t before_pulses_ = 0;
};

}  // namespace eventloom
