#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/detector/detector.hpp"

namespace eventloom {

/// A range of channels of a source about which something is known, both ends included.
struct DetectorRange {
  std::uint32_t source = 0;
  std::uint32_t first_channel = 0;
  std::uint32_t last_channel = 0;
  std::int64_t offset = 0;  ///< ticks
  bool masked = false;
  double min_payload = -std::numeric_limits<double>::infinity();
  double max_payload = std::numeric_limits<double>::infinity();
  std::string groups;  ///< joined by ';'
  std::string name;
  Position position = {kUnknown, kUnknown, kUnknown};
  ValueScale scale = {};
  std::string unit = {};  ///< unit of the values
  Tick dead_time = 0;

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// True when hits are dropped by the first number of their payload.
  [[nodiscard]] bool cut() const;
  /// True when all coordinates are known.
  [[nodiscard]] bool has_position() const;
};

/// Splits a list of group names at ';', keeping their order.
std::vector<std::string_view> group_names(std::string_view joined);

/// The detector as stored in /detector of run.h5 or of a merged file.
struct DetectorRecord {
  std::string file;                   ///< name of the map's file
  std::string map;                    ///< text of the map
  std::vector<std::string> groups;    ///< values of --group
  std::vector<DetectorRange> ranges;  ///< known ranges, by source and channel

  [[nodiscard]] bool empty() const { return map.empty() && groups.empty(); }
};

/// Looks up a channel in such a record. Texts are as in the file: escape them before display.
class KnownChannels {
 public:
  KnownChannels() = default;
  explicit KnownChannels(const DetectorRecord& record);

  /// True without a map and without groups.
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<DetectorRange>& ranges() const { return ranges_; }
  /// Index in ranges(); ranges().size() when nothing is known about the channel.
  [[nodiscard]] std::size_t place_of(std::uint32_t source, std::uint32_t channel) const;
  /// Null when nothing is known about the channel.
  [[nodiscard]] const DetectorRange* at(std::uint32_t source, std::uint32_t channel) const;
  /// Empty when the channel has no name.
  [[nodiscard]] const std::string& name_of(std::uint32_t source, std::uint32_t channel) const;

  /// Names of all groups, in alphabetical order.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  /// Indices in groups() of the groups of a range.
  [[nodiscard]] std::vector<std::size_t> groups_of(const DetectorRange& range) const;

 private:
  bool empty_ = true;
  std::string file_;
  std::vector<DetectorRange> ranges_;  ///< ascending
  std::vector<std::string> groups_;
};

}  // namespace eventloom
