#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

/// The marker format: little-endian 32-bit words, type in the top 4 bits, value in the low 28. Follows the DABC
/// proposal of 2006, table 5.1.
///
///   31  28 27                19 18                            0
///   +-----+---------------------------------------------------+
///   |  0  | M    epoch number, low 28 bits; opens an epoch    |
///   |  1  | T    words belonging to it | time in the epoch    |  511: the next word holds the number
///   |  2  | ID   system 6 | subsystem 6 | channel 16          |  then its payload words
///   |  3  | TG   event tag                                    |
///   |  4  | H1   first bin 15 bits | number of bins 13 bits   |  then the bins
///   |  5  | P    time 13 | amplitude 9 | width 6              |  of the last ID
///   |  6  | SCH  number of entries                            |  then (time, event tag, builder) each
///   +-----+---------------------------------------------------+
///
/// Grammar: buffer = { M { T-group | TG | H1 | SCH } }; a T-group holds { ID payload | P | TG }.
/// A reader can step from T to T by the number of words, without knowing the IDs.
namespace eventloom {

enum class MarkerType : std::uint32_t {
  epoch = 0,
  time = 1,
  channel = 2,
  tag = 3,
  histogram = 4,
  peak = 5,
  schedule = 6
};

inline constexpr std::uint32_t kValueMask = 0x0fffffffU;
inline constexpr std::uint32_t kTimeMask = 0x0007ffffU;
/// Value of T's 9-bit word count if the next word holds the actual count.
inline constexpr std::uint32_t kLongGroup = 511;

constexpr MarkerType marker_type(std::uint32_t word) { return static_cast<MarkerType>(word >> 28); }
constexpr std::uint32_t marker_value(std::uint32_t word) { return word & kValueMask; }

constexpr std::uint32_t encode_marker(MarkerType type, std::uint32_t value) {
  return static_cast<std::uint32_t>(type) << 28 | (value & kValueMask);
}
constexpr std::uint32_t encode_time(std::uint32_t time, std::uint32_t words) {
  return encode_marker(MarkerType::time, words << 19 | (time & kTimeMask));
}

/// Pulse parameters of the preceding ID.
struct Peak {
  std::uint32_t time = 0;       ///< 13 bits
  std::uint32_t amplitude = 0;  ///< 9 bits
  std::uint32_t width = 0;      ///< 6 bits
  friend bool operator==(const Peak&, const Peak&) = default;
};
constexpr std::uint32_t encode_peak(Peak p) {
  return encode_marker(MarkerType::peak, (p.time & 0x1fffU) << 15 | (p.amplitude & 0x1ffU) << 6 | (p.width & 0x3fU));
}
constexpr Peak decode_peak(std::uint32_t word) { return {word >> 15 & 0x1fffU, word >> 6 & 0x1ffU, word & 0x3fU}; }

struct ScheduleEntry {
  std::uint32_t time = 0;
  std::uint32_t tag = 0;
  std::uint32_t builder = 0;
  friend bool operator==(const ScheduleEntry&, const ScheduleEntry&) = default;
};

/// Number of payload words after an ID, by the system part (top 6 bits) of the channel id.
struct PayloadTable {
  /// The first payload word holds the number of words that follow it.
  static constexpr std::uint8_t kLengthInFirstWord = 255;
  std::array<std::uint8_t, 64> words{};

  static PayloadTable uniform(std::uint8_t n) {
    PayloadTable t;
    t.words.fill(n);
    return t;
  }
  [[nodiscard]] std::uint8_t of(std::uint32_t channel) const { return words[channel >> 22 & 0x3fU]; }
  [[nodiscard]] bool any() const { return words != decltype(words){}; }
  friend bool operator==(const PayloadTable&, const PayloadTable&) = default;
};

/// Appends markers to a vector of words owned by the caller. A value that does not fit its field throws
/// std::invalid_argument and leaves the words unchanged.
class MarkerWriter {
 public:
  explicit MarkerWriter(std::vector<std::uint32_t>& words) : words_(words) {}

  void epoch(Epoch epoch);
  /// Opens a T-group. Following hits, peaks and tags belong to it until the next marker of another kind or finish().
  void time(std::uint32_t tick_in_epoch);
  /// `payload` must match the reader's table, including the length word if the table requires one.
  void channel(std::uint32_t channel, std::span<const std::uint32_t> payload = {});
  void peak(Peak peak);
  void tag(std::uint32_t tag);
  void histogram(std::uint32_t first_bin, std::span<const std::uint32_t> bins);
  void schedule(std::span<const ScheduleEntry> entries);
  /// Closes the open T-group. Call once after the last item.
  void finish();

 private:
  std::vector<std::uint32_t>& words_;
  std::ptrdiff_t open_time_ = -1;
};

}  // namespace eventloom
