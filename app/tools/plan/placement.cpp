#include "app/tools/plan/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace eventloom {

namespace {

/// Nodes with fewer cores use all of them.
constexpr std::uint32_t kCoresWithOneToSpare = 8;

/// Upper limit of the option --builders of `run`.
constexpr std::uint32_t kMostBuilders = 100'000;

struct StageRate {
  double sources;
  double hits_per_second;
};
/// Rates of decoding, sorting and definition on one core (tests/benchmarks/README.md, build/gap, pattern 0).
constexpr std::array kStageRates = {StageRate{1, 262e6}, StageRate{4, 139e6}, StageRate{16, 108e6},
                                    StageRate{100, 58e6}};
constexpr double kWholeRun = 75e6 / 2;
constexpr double kReading = 4.9e9;

/// Interpolates linearly between the points, on logarithmic axes; extrapolates beyond the last one.
double stage_rate(double sources) {
  std::size_t i = 1;
  while (i + 1 < kStageRates.size() && sources > kStageRates[i].sources) ++i;
  const auto& low = kStageRates[i - 1];
  const auto& high = kStageRates[i];
  const double slope = std::log(high.hits_per_second / low.hits_per_second) / std::log(high.sources / low.sources);
  return low.hits_per_second * std::pow(sources / low.sources, slope);
}

std::uint32_t count_of(double x) { return static_cast<std::uint32_t>(std::clamp(std::ceil(x), 1.0, 1e9)); }
std::uint32_t rounded_down(std::uint32_t n, std::uint32_t unit) { return n / unit * unit; }
std::uint32_t rounded_up(std::uint32_t n, std::uint32_t unit) { return rounded_down(n + unit - 1, unit); }

/// Number of builders needed if the rate is known.
std::uint32_t builders_needed(const PlanRequest& request) {
  return count_of(request.sources * *request.hits_per_second / hits_per_core(request.sources));
}

/// Number of builders that the sources can feed, if the rate is unknown.
std::uint32_t builders_fed(const PlanRequest& request) {
  return count_of(request.sources * hits_per_source(request.hit_bytes) / hits_per_core(request.sources));
}

std::uint32_t number_of_builders(const PlanRequest& request, std::uint32_t most) {
  const auto whole_rounds = [&](std::uint32_t n) {
    return std::clamp(rounded_up(std::min(n, most), request.nodes), request.nodes, most);
  };
  if (request.hits_per_second) return whole_rounds(builders_needed(request));
  const std::uint32_t taken = std::min(request.sources + request.filters, most);
  const std::uint32_t left = rounded_down(most - taken, request.nodes);
  return std::min(std::max(left, whole_rounds(request.sources)), whole_rounds(builders_fed(request)));
}

}  // namespace

std::uint32_t PlanRequest::usable_cores() const {
  return cores_per_node < kCoresWithOneToSpare ? cores_per_node : cores_per_node - 1;
}

double hits_per_core(std::uint32_t sources) { return kWholeRun * stage_rate(sources) / stage_rate(4); }

double hits_per_source(double hit_bytes) { return kReading / hit_bytes; }

Placement::Placement(const PlanRequest& request) : nodes(request.nodes) {
  const std::uint32_t cores = request.nodes * request.usable_cores();
  const std::uint32_t most = rounded_down(std::min(cores, kMostBuilders), request.nodes);
  roles.sources = request.sources;
  roles.filters = request.filters;
  roles.builders = number_of_builders(request, most);
  // If roles wrap around the ranks, the number of ranks must be a multiple of the number of nodes: otherwise
  // consecutive builders would share a node.
  roles.ranks = static_cast<int>(std::min(cores, roles.sources + roles.builders + roles.filters));
  schedule = builders_unequal() ? "balanced" : "round-robin";
  if (request.simulated) schedule = request.simulated->name;
  if (request.hits_per_second) {
    const std::uint32_t needed = builders_needed(request);
    builders_missing = needed - std::min(needed, roles.builders);
  }
}

std::uint32_t Placement::builders_beside_sources() const {
  const auto source_ranks = std::min(roles.sources, static_cast<std::uint32_t>(roles.ranks));
  std::uint32_t n = 0;
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    if (static_cast<std::uint32_t>(roles.rank_of(BuilderId{b})) < source_ranks) ++n;
  }
  return n;
}

bool Placement::builders_unequal() const {
  const std::uint32_t beside = builders_beside_sources();
  return beside != 0 && beside != roles.builders;
}

std::vector<RankRoles> roles_by_rank(const Roles& roles) {
  std::vector<RankRoles> ranks(static_cast<std::size_t>(roles.ranks));
  const auto at = [&](int rank) -> RankRoles& { return ranks[static_cast<std::size_t>(rank)]; };
  for (std::uint32_t s = 0; s < roles.sources; ++s)
    at(roles.rank_of(SourceId{static_cast<std::uint16_t>(s)})).sources.push_back(s);
  for (std::uint32_t b = 0; b < roles.builders; ++b) at(roles.rank_of(BuilderId{b})).builders.push_back(b);
  for (std::uint32_t f = 0; f < roles.filters; ++f) at(roles.rank_of(FilterId{f})).filters.push_back(f);
  return ranks;
}

}  // namespace eventloom
