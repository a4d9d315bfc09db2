#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/run_detector.hpp"
#include "app/run/run_setup.hpp"

namespace eventloom {

/// What the detector's map and --group name, and what no hit of the run belongs to.
struct UnusedChannels {
  /// A row of the map, or an option.
  struct Entry {
    std::string place;       ///< "MAP.csv: row 3 (line 5)", or "--group A=source:0-3"
    std::uint64_t line = 0;  ///< of the map; 0: an option
    std::string selects;     ///< "source 2, channels 0x10 to 0x1f"
  };
  std::vector<Entry> entries;
  std::vector<std::string> groups;
  std::size_t of_entries = 0;
  bool resumed = false;  ///< hits that came in before the run was resumed are not known
};

/// `seen`: bits of the detector's ChannelUse, of all builders. Nothing without a map or groups, and where hits that the
/// map takes out were not saved with the time-sorted ones.
std::optional<UnusedChannels> unused_channels(const DetectorOptions& options, const RunSetup& setup,
                                              std::span<const std::uint64_t> seen, bool resumed);

/// Warnings of a line each.
void tell_unused(const UnusedChannels& unused);
nlohmann::ordered_json to_json(const UnusedChannels& unused);

}  // namespace eventloom
