#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// A position in metres.
struct Position {
  double x = 0;
  double y = 0;
  double z = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

/// value = gain x (first number of the payload) + zero
struct ValueScale {
  double gain = 1;
  double zero = 0;

  friend bool operator==(const ValueScale&, const ValueScale&) = default;
};

/// A set of groups: bit i is group i of the detector.
using GroupSet = std::uint64_t;
inline constexpr std::size_t kMaxGroups = 64;

/// Properties of a channel of a source.
struct ChannelInfo {
  std::int64_t offset = 0;  ///< ticks, added to the times of its hits
  Tick dead_time = 0;       ///< hits this soon after a hit that counts are dropped, see ChannelDeadTime
  bool masked = false;      ///< its hits are dropped
  bool cut = false;  ///< hits are dropped if the first number of their payload is outside [min_payload, max_payload]
  double min_payload = -std::numeric_limits<double>::infinity();
  double max_payload = std::numeric_limits<double>::infinity();
  bool calibrated = false;  ///< a row of the map states its gain or zero
  ValueScale calibration;
  std::string unit;  ///< unit of its values
  GroupSet groups = 0;
  std::optional<Position> position;
  std::string name;

  friend bool operator==(const ChannelInfo&, const ChannelInfo&) = default;
};

/// The channels that one change of a detector applies to, both ends of the range included.
struct ChannelRange {
  std::uint16_t source = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0xfffffff;
};

/// Channels of sources selected by a row of a map, or by an option.
struct DetectorSelection {
  std::vector<std::uint16_t> sources;
  std::uint32_t low = 0;  ///< both ends included
  std::uint32_t high = 0xfffffff;
};

/// Looks up channels by source and number. Immutable once in use, and then shared by threads.
class Detector {
 public:
  /// A detector for a run with `n_sources` sources, of whose channels nothing is known.
  explicit Detector(std::size_t n_sources = 0) : sources_(n_sources) {}

  /// Returns the number of the group, adding it if it is new. Throws std::length_error if there are kMaxGroups already.
  std::size_t add_group(std::string_view name);

  /// Prepares for many changes of a source; call before the first. `lows`: the first channels of ranges, and one past
  /// their last ones, ascending.
  void divide(std::uint16_t source, std::span<const std::uint32_t> lows);

  /// Calls `change(ChannelInfo&)` for all channels of the range.
  template <class Change>
  void change(const ChannelRange& range, Change change) {
    auto& pieces = sources_.at(range.source);
    const std::size_t first = split(pieces, range.low);
    const std::size_t end = range.high == kLastChannel ? pieces.size() : split(pieces, range.high + 1);
    for (std::size_t i = first; i < end; ++i) change(pieces[i].info);
  }

  /// Calls `use(low, info)` for each piece of the source's channels, in ascending order; a piece extends from `low` to
  /// the next piece. Without pieces, nothing is known of the source.
  template <class Use>
  void visit(std::uint16_t source, Use use) const {
    for (const auto& piece : sources_.at(source)) use(piece.low, piece.info);
  }
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }
  /// The pieces of a source, indexed from 0: their number, the piece of a channel (if there are pieces), and where a
  /// piece begins; for the index after the last, one past the last channel.
  [[nodiscard]] std::size_t pieces(std::uint16_t source) const { return sources_.at(source).size(); }
  [[nodiscard]] std::size_t piece_of(std::uint16_t source, std::uint32_t channel) const;
  [[nodiscard]] std::uint32_t piece_begin(std::uint16_t source, std::size_t piece) const {
    const auto& pieces = sources_.at(source);
    return piece == pieces.size() ? kLastChannel + 1 : pieces[piece].low;
  }

  /// Selections of channels, in the order of the map's rows and the options. Their borders are borders of pieces.
  void add_selection(DetectorSelection selection) { selections_.push_back(std::move(selection)); }
  [[nodiscard]] const std::vector<DetectorSelection>& selections() const { return selections_; }

  /// Properties of a channel; a source beyond the last has default ones.
  [[nodiscard]] const ChannelInfo& at(std::uint16_t source, std::uint32_t channel) const;

  /// Names of the groups, indexed by number.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  [[nodiscard]] std::optional<std::size_t> group(std::string_view name) const;

  /// Whether it changes hits by any offset, mask or cut.
  [[nodiscard]] bool corrects() const;
  /// 0: no channel has a dead time.
  [[nodiscard]] Tick longest_dead_time() const;
  /// Whether any channel has a position.
  [[nodiscard]] bool has_positions() const;
  /// Whether any channel has a gain or zero.
  [[nodiscard]] bool calibrates() const;
  /// Unit of the values where all calibrated channels have the same; empty otherwise.
  [[nodiscard]] std::string unit() const;
  /// Largest absolute offset.
  [[nodiscard]] Tick largest_offset() const;

 private:
  static constexpr std::uint32_t kLastChannel = 0xfffffff;

  /// Channels from `low` up to the next piece.
  struct Piece {
    std::uint32_t low = 0;
    ChannelInfo info;
  };
  using Pieces = std::vector<Piece>;

  [[nodiscard]] bool any(bool (*is)(const ChannelInfo&)) const;

  /// Returns the piece that begins at `low`, splitting another one if necessary.
  static std::size_t split(Pieces& pieces, std::uint32_t low);

  std::vector<Pieces> sources_;  ///< pieces of each source, ascending; empty: nothing is known
  std::vector<std::string> groups_;
  std::vector<DetectorSelection> selections_;
};

using DetectorPtr = std::shared_ptr<const Detector>;

}  // namespace eventloom
