#pragma once

#include <cstdint>
#include <limits>
#include <string>
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
};

/// The detector as /detector of run.h5, or of a merged file, keeps it.
struct DetectorRecord {
  std::string file;                   ///< of the map
  std::string map;                    ///< its text
  std::vector<std::string> groups;    ///< of --group
  std::vector<DetectorRange> ranges;  ///< what is known, by source and channel

  [[nodiscard]] bool empty() const { return map.empty() && groups.empty(); }
};

/// Names of channels, by source and number.
class ChannelNames {
 public:
  explicit ChannelNames(const std::vector<DetectorRange>& ranges);
  /// Empty: none.
  [[nodiscard]] const std::string& of(std::uint32_t source, std::uint32_t channel) const;

 private:
  std::vector<DetectorRange> named_;  ///< rising
};

}  // namespace eventloom
