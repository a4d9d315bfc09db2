#include "core/fabric/fair_shares.hpp"

#include <algorithm>
#include <functional>

namespace eventloom {

FairShares::FairShares(const FabricRoutes& routes) : routes_(routes), links_(routes.rates.size()) {
  for (const auto& route : routes.routes) hops_ = std::max(hops_, route.size());
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l].left = routes_.rates[l];
}

double FairShares::add(const LinkPath& path, double weight) {
  double limit = std::numeric_limits<double>::infinity();
  const auto end = paths_.size() + hops_;
  for (const auto link : path) {
    if (routes_.is_shared(link)) {
      paths_.push_back(link);
    } else {
      limit = std::min(limit, routes_.rates[link]);
    }
  }
  paths_.resize(end, kNoLink);
  weights_.push_back(weight);
  limits_.push_back(limit);
  rates_.push_back(take_rest(size() - 1));
  return rates_.back();
}

/// Treats spare rates due to rounding as zero.
double FairShares::take_rest(std::size_t flow) {
  constexpr double kLeast = 1e-6;
  double rate = limits_[flow];
  for (const auto l : path(flow)) {
    if (l == kNoLink) break;
    rate = std::min(rate, links_[l].left > kLeast * routes_.rates[l] ? links_[l].left : 0);
  }
  for (const auto l : path(flow)) {
    if (l == kNoLink) break;
    links_[l].left -= rate;
  }
  return rate;
}

void FairShares::release(std::size_t flow) {
  for (const auto l : path(flow)) {
    if (l == kNoLink) break;
    links_[l].left += rates_[flow];
  }
  rates_[flow] = 0;
}

void FairShares::remove(std::size_t flow) {
  release(flow);
  std::ranges::copy(path(size() - 1), path(flow).begin());
  rates_[flow] = rates_.back();
  rates_.pop_back();
  weights_[flow] = weights_.back();
  limits_[flow] = limits_.back();
  paths_.resize(paths_.size() - hops_);
  weights_.pop_back();
  limits_.pop_back();
}

std::span<const double> FairShares::share() {
  rates_.assign(size(), -1);
  list_flows();
  fill_levels();
  while (!levels_.empty()) {
    std::ranges::pop_heap(levels_, std::greater{});
    const auto [level, what] = levels_.back();
    levels_.pop_back();
    if (what >= links_.size()) {
      fix(what - links_.size(), limits_[what - links_.size()]);
    } else {
      exhaust(what, level);
    }
  }
  return rates_;
}

/// Lists the flows of each link.
void FairShares::list_flows() {
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l] = {routes_.rates[l], 0, 0, 0};
  for (std::size_t f = 0; f < size(); ++f) {
    for (const auto l : path(f)) {
      if (l == kNoLink) break;
      links_[l].weight += weights_[f];
      ++links_[l].flows;
    }
  }
  std::uint32_t begin = 0;
  for (auto& link : links_) {
    link.members = begin;
    begin += link.flows;
  }
  members_.resize(begin);
  for (std::uint32_t f = 0; f < size(); ++f) {
    for (const auto l : path(f)) {
      if (l == kNoLink) break;
      members_[links_[l].members++] = f;
    }
  }
}

void FairShares::fill_levels() {
  levels_.clear();
  for (std::size_t l = 0; l < links_.size(); ++l) {
    if (links_[l].flows != 0) levels_.emplace_back(links_[l].left / links_[l].weight, l);
  }
  for (std::size_t f = 0; f < size(); ++f) {
    if (limits_[f] < std::numeric_limits<double>::infinity()) {
      levels_.emplace_back(limits_[f] / weights_[f], links_.size() + f);
    }
  }
  std::ranges::make_heap(levels_, std::greater{});
}

std::span<const std::uint32_t> FairShares::members(std::size_t link) const {
  const std::size_t begin = link == 0 ? 0 : links_[link - 1].members;
  return std::span(members_).subspan(begin, links_[link].members - begin);
}

/// Distributes the spare rate of a link to its flows. If others have meanwhile got less than their share, the link is
/// exhausted later, and is put back.
void FairShares::exhaust(std::size_t link, double level) {
  constexpr double kRounding = 1e-12;
  if (links_[link].flows == 0) return;
  const double now = links_[link].left / links_[link].weight;
  if (now > level * (1 + kRounding)) {
    levels_.emplace_back(now, link);
    std::ranges::push_heap(levels_, std::greater{});
    return;
  }
  for (const auto flow : members(link)) fix(flow, level * weights_[flow]);
}

void FairShares::fix(std::size_t flow, double rate) {
  if (rates_[flow] >= 0) return;
  rates_[flow] = rate;
  for (const auto l : path(flow)) {
    if (l == kNoLink) break;
    links_[l].left -= rate;
    links_[l].weight -= weights_[flow];
    --links_[l].flows;
  }
}

}  // namespace eventloom
