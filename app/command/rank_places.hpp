#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/control/collective.hpp"

namespace eventloom {

/// Where a rank runs.
struct RankPlace {
  std::string host;
  std::string cpus;             ///< hardware threads it may use, as in "0-1,4"
  std::set<std::string> cores;  ///< of these, by name
};

/// Collective: by rank.
std::vector<RankPlace> rank_places(const Collective& ranks);

/// A host with ranks.
struct HostPlaces {
  std::string host;
  std::vector<int> ranks;
  std::set<std::string> cores;   ///< that any of them may use
  std::size_t without_core = 0;  ///< ranks that cannot have a core to themselves
};

/// In the order of their first ranks.
std::vector<HostPlaces> hosts_of(const std::vector<RankPlace>& places);

/// "3 ranks on n1 share 2 cores"; empty when each rank can have a core to itself. Names one host of several.
std::string crowding(const std::vector<HostPlaces>& hosts);

}  // namespace eventloom
