#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/run_detector.hpp"
#include "app/run/run_setup.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Entries of the detector map and of --group that select no hit of the run.
struct UnusedChannels {
  /// A row of the map, or an option --group.
  struct Entry {
    std::string place;       ///< "MAP.csv: row 3 (line 5)", or "--group A=source:0-3"
    std::uint64_t line = 0;  ///< line of the map; 0: an option
    std::string selects;     ///< "source 2, channels 0x10 to 0x1f"
  };
  std::vector<Entry> entries;
  std::vector<std::string> groups;
  std::size_t of_entries = 0;
  bool resumed = false;  ///< hits received before the run was resumed are not known
};

/// `seen`: bits of the detector's ChannelUse, of all builders. Returns nothing if there is neither a map nor a group,
/// or if hits excluded by the map were not saved with the time-sorted ones.
std::optional<UnusedChannels> unused_channels(const DetectorOptions& options, const RunSetup& setup,
                                              std::span<const std::uint64_t> seen, bool resumed);

/// Logs the entries as warnings of one line each.
void report_unused(const UnusedChannels& unused);
Json to_json(const UnusedChannels& unused);

}  // namespace eventloom
