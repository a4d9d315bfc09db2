#include "core/fabric/random_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "core/fabric/fair_shares.hpp"
#include "core/fabric/link_load.hpp"

namespace eventloom {

PairRates random_pairs(const FabricRoutes& fabric, std::uint32_t patterns, std::uint64_t seed) {
  PairRates rates{patterns, full_rate(fabric), 0, 0};
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> nodes(fabric.nodes);
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto paired = fabric.nodes / 2 * 2;
  FairShares shares(fabric);
  for (std::uint32_t pattern = 0; pattern < patterns; ++pattern) {
    for (std::size_t left = nodes.size(); left > 1; --left) std::swap(nodes[left - 1], nodes[random() % left]);
    for (std::uint32_t i = 0; i < paired; i += 2) {
      shares.add(fabric.route(nodes[i], nodes[i + 1]), 1);
      shares.add(fabric.route(nodes[i + 1], nodes[i]), 1);
    }
    const auto shared = shares.share();
    rates.mean += std::accumulate(shared.begin(), shared.end(), 0.0) / paired / patterns;
    rates.slowest += std::ranges::min(shared) / patterns;
    while (shares.size() != 0) shares.remove(shares.size() - 1);
  }
  return rates;
}

}  // namespace eventloom
