#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// How flows share the links of a fabric: max-min fair, by weights. No flow can get more unless another one with no
/// more for its weight gets less.
class FairShares {
 public:
  /// `routes` must outlive this object.
  explicit FairShares(const FabricRoutes& routes);

  /// The flow gets the next number, from 0 on. Until the next share() it takes what is left of its links: returns this
  /// rate, which may be 0.
  double add(const LinkPath& path, double weight);
  /// The flow has ended: leaves its rate to those that are added.
  void release(std::size_t flow);
  /// Forgets a flow. The last one takes its number.
  void remove(std::size_t flow);
  [[nodiscard]] std::size_t size() const { return weights_.size(); }

  /// The rates of all flows, by number, bytes per second; valid until the next call. Takes time in proportion to the
  /// flows and the lengths of their paths.
  std::span<const double> share();

 private:
  static constexpr LinkNumber kNoLink = std::numeric_limits<LinkNumber>::max();
  struct Link {
    double left = 0;    ///< rate that no flow has yet
    double weight = 0;  ///< of the flows that have no rate yet
    std::uint32_t flows = 0;
    std::uint32_t members = 0;  ///< end of its flows in members_
  };
  /// A link, or from links_.size() on a flow, with the rate per weight at which it is exhausted.
  using Level = std::pair<double, std::size_t>;

  [[nodiscard]] std::span<LinkNumber> path(std::size_t flow) { return std::span(paths_).subspan(flow * hops_, hops_); }
  [[nodiscard]] std::span<const std::uint32_t> members(std::size_t link) const;
  void list_flows();
  void fill_levels();
  void exhaust(std::size_t link, double level);
  void fix(std::size_t flow, double rate);
  double take_rest(std::size_t flow);

  const FabricRoutes& routes_;
  std::size_t hops_ = 1;           ///< of the longest path
  std::vector<LinkNumber> paths_;  ///< [flow][hop]; shared links, then kNoLink
  std::vector<double> weights_;    ///< by flow
  std::vector<double> limits_;     ///< by flow: of links that are not shared
  std::vector<double> rates_;      ///< by flow; negative: not yet known
  std::vector<Link> links_;
  std::vector<std::uint32_t> members_;  ///< flows by link
  std::vector<Level> levels_;           ///< a heap, the lowest first
};

}  // namespace eventloom
