#include "core/fabric/workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/fabric/link_load.hpp"

namespace eventloom {

namespace {

constexpr double kRounding = 1e-9;
constexpr std::uint32_t kMostStepsPerTransfer = 4;
constexpr double kLittle = 0.05;

/// Rate of a single transfer on this path, in units of `full`.
double share_of(const FabricRoutes& fabric, const LinkPath& path, double full) {
  double least = 1;
  for (const auto link : path) least = std::min(least, fabric.rates[link] / full);
  return least;
}

std::uint32_t steps_at(double share, std::uint32_t steps_per_transfer) {
  return static_cast<std::uint32_t>(std::ceil(steps_per_transfer / share - kRounding));
}

/// Steps per transfer such that rounding up to whole steps costs little.
std::uint32_t find_steps_per_transfer(const FabricRoutes& fabric, double full) {
  std::set<double> shares;
  for (const auto& path : fabric.routes) shares.insert(share_of(fabric, path, full));
  const auto loss = [&](std::uint32_t steps) {
    double most = 0;
    for (const auto share : shares) most = std::max(most, steps_at(share, steps) * share / steps - 1);
    return most;
  };
  std::uint32_t best = 1;
  for (std::uint32_t steps = 1; steps <= kMostStepsPerTransfer && loss(best) > kLittle; ++steps) {
    if (loss(steps) < loss(best)) best = steps;
  }
  return best;
}

}  // namespace

Workload::Workload(const FabricRoutes& fabric, std::uint32_t ranks_per_node)
    : ends(fabric.nodes * ranks_per_node), capacity(2 * std::size_t{ends}, 1) {
  const double full = full_rate(fabric);
  steps_per_transfer = find_steps_per_transfer(fabric, full);
  for (const auto rate : fabric.rates) {
    capacity.push_back(std::max(1U, static_cast<std::uint32_t>(rate / full + kRounding)));
  }
  for (std::uint32_t shift = 1; shift < ends; ++shift) {
    for (std::uint32_t source = 0; source < ends; ++source) {
      const auto builder = (source + shift) % ends;
      const auto& path = fabric.route(source / ranks_per_node, builder / ranks_per_node);
      if (!path.empty()) add_job(fabric, path, source, builder, full);
    }
  }
  std::ranges::stable_sort(jobs, std::greater<>(), &Job::steps);
  leave_out_private();
}

void Workload::add_job(const FabricRoutes& fabric, const LinkPath& path, std::uint32_t source, std::uint32_t builder,
                       double full) {
  auto& job = jobs.emplace_back(Job{source, builder, steps_at(share_of(fabric, path, full), steps_per_transfer), {}});
  job.uses = {source, ends + builder};
  for (const auto link : path) job.uses.push_back(2 * ends + link);
}

/// A link used by only one source or only one builder is never the bottleneck: it is busy only when that one is.
void Workload::leave_out_private() {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::array<std::uint32_t, 2>> only(capacity.size(), {kNone, kNone});
  std::vector<std::array<std::uint8_t, 2>> several(capacity.size());
  for (const auto& job : jobs) {
    for (const auto used : job.uses) {
      for (const std::size_t end : {0, 1}) {
        auto& first = only[used][end];
        if (first == kNone) first = job.uses[end];
        several[used][end] |= first != job.uses[end] ? 1 : 0;
      }
    }
  }
  for (auto& job : jobs) {
    std::erase_if(job.uses, [&](std::uint32_t used) {
      return used >= 2 * ends && (several[used][0] == 0 || several[used][1] == 0);
    });
  }
}

std::uint32_t Workload::least_steps() const {
  std::vector<std::uint64_t> busy(capacity.size());
  std::uint64_t least = 0;
  for (const auto& job : jobs) {
    for (const auto used : job.uses) busy[used] += job.steps;
  }
  for (std::size_t i = 0; i < busy.size(); ++i) least = std::max(least, (busy[i] + capacity[i] - 1) / capacity[i]);
  return static_cast<std::uint32_t>(least);
}

}  // namespace eventloom
