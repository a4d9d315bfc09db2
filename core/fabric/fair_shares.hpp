#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// Weighted max-min fair shares of the links of a fabric: no flow can get more unless another one, whose rate per
/// weight is no higher, gets less.
class FairShares {
 public:
  /// `routes` must outlive this object.
  explicit FairShares(const FabricRoutes& routes);

  /// Adds a flow, which gets the next index, starting from 0. Until the next share() it takes the spare rate of its
  /// links: returns this rate, which may be 0.
  double add(const LinkPath& path, double weight);
  /// The flow has ended: its rate becomes available to flows that are added.
  void release(std::size_t flow);
  /// Removes a flow. The last flow takes its index.
  void remove(std::size_t flow);
  [[nodiscard]] std::size_t size() const { return weights_.size(); }

  /// The rates of all flows, by index, bytes per second; valid until the next call. Takes time proportional to the
  /// number of flows and the lengths of their paths.
  std::span<const double> share();

 private:
  static constexpr LinkNumber kNoLink = std::numeric_limits<LinkNumber>::max();
  struct Link {
    double left = 0;    ///< rate not yet assigned
    double weight = 0;  ///< total weight of the flows without a rate
    std::uint32_t flows = 0;
    std::uint32_t members = 0;  ///< end of its flows in members_
  };
  /// An index of a link, or from links_.size() of a flow, with the rate per weight at which it is exhausted.
  using Level = std::pair<double, std::size_t>;

  [[nodiscard]] std::span<LinkNumber> path(std::size_t flow) { return std::span(paths_).subspan(flow * hops_, hops_); }
  [[nodiscard]] std::span<const std::uint32_t> members(std::size_t link) const;
  void list_flows();
  void fill_levels();
  void exhaust(std::size_t link, double level);
  void fix(std::size_t flow, double rate);
  double take_rest(std::size_t flow);

  const FabricRoutes& routes_;
  std::size_t hops_ = 1;           ///< length of the longest path
  std::vector<LinkNumber> paths_;  ///< [flow][hop]; shared links, then kNoLink
  std::vector<double> weights_;    ///< indexed by flow
  std::vector<double> limits_;     ///< indexed by flow: limit set by links that are not shared
  std::vector<double> rates_;      ///< indexed by flow; negative: not yet known
  std::vector<Link> links_;
  std::vector<std::uint32_t> members_;  ///< flows, grouped by link
  std::vector<Level> levels_;           ///< a min-heap
};

}  // namespace eventloom
