#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/control/collective.hpp"

namespace eventloom {

/// Location of a rank.
struct RankPlace {
  std::string host;
  std::string cpus;             ///< hardware threads that the rank may use, as in "0-1,4"
  std::set<std::string> cores;  ///< names of the cores of these threads
};

/// Collective. Returns one element per rank.
std::vector<RankPlace> rank_places(const Collective& ranks);

/// A host and its ranks.
struct HostPlaces {
  std::string host;
  std::vector<int> ranks;
  std::set<std::string> cores;   ///< cores that any of the ranks may use
  std::size_t without_core = 0;  ///< number of ranks that cannot have a core to themselves
};

/// Returns the hosts in the order of their first ranks.
std::vector<HostPlaces> hosts_of(const std::vector<RankPlace>& places);

/// Returns a text such as "3 ranks on n1 share 2 cores"; empty if each rank can have a core to itself. If several hosts
/// are crowded, names one of them.
std::string crowding(const std::vector<HostPlaces>& hosts);

}  // namespace eventloom
