#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/detector/detector.hpp"

namespace eventloom {

/// Channels of a source of which something is known, both ends included.
struct DetectorRange {
  std::uint32_t source = 0;
  std::uint32_t first_channel = 0;
  std::uint32_t last_channel = 0;
  std::int64_t offset = 0;  ///< ticks
  bool masked = false;
  std::uint32_t min_payload = 0;
  std::uint32_t max_payload = std::numeric_limits<std::uint32_t>::max();
  std::string groups;  ///< joined by ';'
  std::string name;
  Position position = {kUnknown, kUnknown, kUnknown};

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// Hits are dropped by their payload.
  [[nodiscard]] bool cut() const;
  /// All of its coordinates are known.
  [[nodiscard]] bool has_position() const;
};

/// The names of groups that are joined by ';', in that order.
std::vector<std::string_view> group_names(std::string_view joined);

/// The detector as /detector of run.h5, or of a merged file, keeps it.
struct DetectorRecord {
  std::string file;                   ///< of the map
  std::string map;                    ///< its text
  std::vector<std::string> groups;    ///< of --group
  std::vector<DetectorRange> ranges;  ///< what is known, by source and channel

  [[nodiscard]] bool empty() const { return map.empty() && groups.empty(); }
};

/// What such a record knows of each channel. Texts are as in the file: not made safe to show.
class KnownChannels {
 public:
  KnownChannels() = default;
  explicit KnownChannels(const DetectorRecord& record);

  /// Nothing, neither of a map nor of groups.
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<DetectorRange>& ranges() const { return ranges_; }
  /// Index in ranges(), or ranges().size() where nothing is known of the channel.
  [[nodiscard]] std::size_t place_of(std::uint32_t source, std::uint32_t channel) const;
  /// Null where nothing is known of the channel.
  [[nodiscard]] const DetectorRange* at(std::uint32_t source, std::uint32_t channel) const;
  /// Empty: none.
  [[nodiscard]] const std::string& name_of(std::uint32_t source, std::uint32_t channel) const;

  /// The names of all groups, in the order of the alphabet.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  /// The groups of a range by their numbers in groups().
  [[nodiscard]] std::vector<std::size_t> groups_of(const DetectorRange& range) const;

 private:
  bool empty_ = true;
  std::string file_;
  std::vector<DetectorRange> ranges_;  ///< rising
  std::vector<std::string> groups_;
};

}  // namespace eventloom
