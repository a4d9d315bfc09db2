#include "app/command/rank_places.hpp"

#include <algorithm>

#include "core/runtime/cores.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

std::size_t ranks_without_core(const HostPlaces& host, const std::vector<RankPlace>& places) {
  std::vector<std::set<std::string>> allowed;
  for (const int rank : host.ranks) allowed.push_back(places[static_cast<std::size_t>(rank)].cores);
  return without_core(allowed);
}

}  // namespace

std::vector<RankPlace> rank_places(const Collective& ranks) {
  const auto cpus = allowed_cpus();
  std::vector<std::string> mine = {host_name(), ranges_of(cpus)};
  for (const auto& core : cores_of(cpus)) mine.push_back(core);
  std::vector<RankPlace> places;
  for (const auto& texts : ranks.all_gather(mine)) {
    places.push_back({texts[0], texts[1], {texts.begin() + 2, texts.end()}});
  }
  return places;
}

std::vector<HostPlaces> hosts_of(const std::vector<RankPlace>& places) {
  std::vector<HostPlaces> hosts;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    auto host = std::ranges::find(hosts, places[rank].host, &HostPlaces::host);
    if (host == hosts.end()) host = hosts.insert(host, {places[rank].host, {}, {}});
    host->ranks.push_back(static_cast<int>(rank));
    host->cores.insert(places[rank].cores.begin(), places[rank].cores.end());
  }
  for (auto& host : hosts) host.without_core = ranks_without_core(host, places);
  return hosts;
}

std::string crowding(const std::vector<HostPlaces>& hosts) {
  const auto crowded = std::ranges::find_if(hosts, [](const HostPlaces& host) { return host.without_core > 0; });
  if (crowded == hosts.end()) return "";
  return fmt::format("{} ranks on {} share {} core{}", crowded->ranks.size(), crowded->host, crowded->cores.size(),
                     crowded->cores.size() == 1 ? "" : "s");
}

}  // namespace eventloom
