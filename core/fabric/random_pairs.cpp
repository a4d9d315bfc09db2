#include "core/fabric/random_pairs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "core/fabric/link_load.hpp"

namespace eventloom {

namespace {

/// The links while flows get their rates, the slowest first.
class FairLinks {
 public:
  explicit FairLinks(const FabricRoutes& fabric)
      : left_(fabric.rates), crossing_(fabric.rates.size()), waiting_(fabric.rates.size()) {}

  void add(const LinkPath& path) {
    for (const auto link : path) {
      crossing_[link].push_back(static_cast<std::uint32_t>(flows_.size()));
      ++waiting_[link];
    }
    flows_.push_back({&path, false});
  }
  /// The rates of the flows, in rising order.
  std::vector<double> share_out() {
    std::vector<double> rates;
    for (auto open = flows_.size(); open != 0;) {
      const auto [link, rate] = tightest();
      for (const auto flow : crossing_[link]) {
        if (std::exchange(flows_[flow].has_rate, true)) continue;
        take(*flows_[flow].path, rate);
        rates.push_back(rate);
        --open;
      }
    }
    return rates;
  }

 private:
  struct Flow {
    const LinkPath* path;
    bool has_rate;
  };

  [[nodiscard]] std::pair<LinkNumber, double> tightest() const {
    std::pair<LinkNumber, double> tightest{0, std::numeric_limits<double>::infinity()};
    for (LinkNumber link = 0; link < left_.size(); ++link) {
      if (waiting_[link] == 0) continue;
      const double rate = left_[link] / waiting_[link];
      if (rate < tightest.second) tightest = {link, rate};
    }
    return tightest;
  }
  void take(const LinkPath& path, double rate) {
    for (const auto link : path) {
      left_[link] = std::max(left_[link] - rate, 0.0);
      --waiting_[link];
    }
  }

  std::vector<double> left_;                          ///< by link: bytes per second that nobody has
  std::vector<std::vector<std::uint32_t>> crossing_;  ///< by link: flows
  std::vector<std::uint32_t> waiting_;                ///< by link: those without a rate
  std::vector<Flow> flows_;
};

}  // namespace

PairRates random_pairs(const FabricRoutes& fabric, std::uint32_t patterns, std::uint64_t seed) {
  PairRates rates{patterns, full_rate(fabric), 0, 0};
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> nodes(fabric.nodes);
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto paired = fabric.nodes / 2 * 2;
  for (std::uint32_t pattern = 0; pattern < patterns; ++pattern) {
    for (std::size_t left = nodes.size(); left > 1; --left) std::swap(nodes[left - 1], nodes[random() % left]);
    FairLinks links(fabric);
    for (std::uint32_t i = 0; i < paired; i += 2) {
      links.add(fabric.route(nodes[i], nodes[i + 1]));
      links.add(fabric.route(nodes[i + 1], nodes[i]));
    }
    const auto shared = links.share_out();
    rates.mean += std::accumulate(shared.begin(), shared.end(), 0.0) / paired / patterns;
    rates.slowest += shared.front() / patterns;
  }
  return rates;
}

}  // namespace eventloom
