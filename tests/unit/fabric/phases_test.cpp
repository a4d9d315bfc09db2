#include "core/fabric/phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/fabric/detours.hpp"
#include "core/fabric/link_load.hpp"
#include "schedulers/table.hpp"
#include "tests/unit/fabric/leaf_spine_routes.hpp"

namespace eventloom {
namespace {

FabricRoutes with_dead_uplink(FabricRoutes fabric) {
  std::vector<std::uint8_t> dead(fabric.rates.size());
  dead[link_called(fabric, "l0s1_UP")] = 1;
  avoid_links(fabric, dead);
  return fabric;
}

FabricRoutes with_slow_link(FabricRoutes fabric, const std::string& name, double factor) {
  fabric.rates[link_called(fabric, name)] *= factor;
  return fabric;
}

/// Plays the cycle step by step. A transfer loads each of its links as much as its slowest one.
void expect_valid(const Phases& phases, const FabricRoutes& fabric, std::uint32_t ranks_per_node = 1) {
  const double full = full_rate(fabric);
  ASSERT_EQ(phases.begins.size(), std::size_t{phases.ends} * phases.ends);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> load;  // load of a link in a step
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> sends;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> receives;
  for (std::uint32_t source = 0; source < phases.ends; ++source) {
    for (std::uint32_t builder = 0; builder < phases.ends; ++builder) {
      const auto& path = fabric.route(source / ranks_per_node, builder / ranks_per_node);
      const auto begin = phases.begins[source * phases.ends + builder];
      ASSERT_LT(begin, phases.steps);
      if (path.empty()) continue;
      double rate = full;
      for (const auto link : path) rate = std::min(rate, fabric.rates[link]);
      const auto end = begin + static_cast<std::uint32_t>(std::ceil(phases.steps_per_transfer * full / rate - 1e-9));
      ASSERT_LE(end, phases.steps);
      for (auto step = begin; step < end; ++step) {
        EXPECT_EQ(++sends[std::pair(source, step)], 1);
        EXPECT_EQ(++receives[std::pair(builder, step)], 1);
        for (const auto link : path) load[std::pair(link, step)] += rate;
      }
    }
  }
  for (const auto& [place, rate] : load) {
    EXPECT_LE(rate, fabric.rates[place.first] * 1.000001) << fabric.names[place.first] << " in step " << place.second;
  }
}

Phases searched(const FabricRoutes& fabric, std::uint32_t ranks_per_node = 1) {
  const auto phases = search_phases(fabric, ranks_per_node, 1);
  expect_valid(phases, fabric, ranks_per_node);
  return phases;
}

TEST(Phases, ArePerfectOnAFullTree) {
  for (const auto& fabric : {leaf_spine(1, 5, 1), leaf_spine(4, 4, 4), leaf_spine(8, 8, 8)}) {
    EXPECT_EQ(searched(fabric).steps, fabric.nodes - 1);
  }
}

// With n nodes on a leaf, n spines and N nodes in all, the lower bound after the failure of an uplink is max(1, n (1 -
// n/N) / (n - 1)) times N if the other uplinks share its traffic evenly; the shift takes 2 - n/N.
TEST(Phases, ComeCloseToTheBoundWithADeadUplink) {
  for (const auto& [leaves, n] : {std::pair(4U, 4U), std::pair(7U, 4U), std::pair(8U, 8U), std::pair(15U, 8U)}) {
    const double nodes = leaves * n;
    const double bound = std::max(1.0, n * (1 - n / nodes) / (n - 1)) * nodes;
    const auto phases = searched(with_dead_uplink(leaf_spine(leaves, n, n)));
    EXPECT_GE(phases.steps, bound - 1) << nodes;
    EXPECT_LE(phases.steps, bound * 1.07) << nodes;
    EXPECT_LT(phases.steps, (2 - n / nodes) * nodes * 0.65) << nodes;
  }
}

TEST(Phases, FillWhatLimitsThem) {
  const auto tree = leaf_spine(4, 4, 4);
  std::map<std::string, FabricRoutes> cases{{"half the uplinks", leaf_spine(4, 4, 2)},
                                            {"slow uplink", with_slow_link(tree, "l1s2_UP", 0.5)},
                                            {"slow downlink", with_slow_link(tree, "l3s0_DOWN", 0.5)},
                                            {"slow node", with_slow_link(tree, "n7_UP", 0.25)},
                                            {"uneven", with_slow_link(tree, "l1s2_UP", 0.7)}};
  auto& fast = cases["two to a link"] = leaf_spine(4, 4, 2);
  for (std::size_t link = 0; link < fast.rates.size(); ++link) fast.rates[link] *= link < 32 ? 1 : 2;
  for (const auto& [name, fabric] : cases) {
    const auto phases = searched(fabric);
    EXPECT_LE(phases.steps, 1.1 * phases.least) << name;
    // A builder that receives one transfer at a time, some of them over a slow link, may need longer than the links.
    const double least = 15 * full_rate(fabric) / ideal_rate(fabric) * phases.steps_per_transfer;
    EXPECT_GE(phases.least, least - 1e-6) << name;
    EXPECT_LE(phases.least, 1.13 * least) << name;
  }
}

TEST(Phases, ServeAllRanksOfANode) {
  const auto phases = searched(leaf_spine(2, 2, 2), 3);
  EXPECT_EQ(phases.ends, 12U);
  EXPECT_EQ(phases.least, 3U * 9);
  EXPECT_LE(phases.steps, phases.least * 1.07);
}

TEST(Phases, AreThoseOfTheSeed) {
  const auto fabric = with_dead_uplink(leaf_spine(4, 4, 4));
  EXPECT_EQ(search_phases(fabric, 1, 5).begins, search_phases(fabric, 1, 5).begins);
  EXPECT_NE(search_phases(fabric, 1, 5).begins, search_phases(fabric, 1, 6).begins);
}

TEST(Phases, AreWrittenAsATableOfEachPairOnce) {
  const auto phases = searched(with_dead_uplink(leaf_spine(4, 4, 4)));
  for (const std::uint64_t step_ns : {0, 1500}) {
    const auto table = parse_schedule_table(table_text(phases, step_ns), "t");
    EXPECT_EQ(table.period_ns, phases.steps * step_ns);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
    std::uint64_t last = 0;
    for (const auto& entry : table.entries) {
      const auto begin = phases.begins[entry.source.value * phases.ends + entry.destination.value];
      EXPECT_EQ(++pairs[std::pair(entry.source.value, entry.destination.value)], 1);
      EXPECT_EQ(entry.time_ns, begin * step_ns);
      EXPECT_GE(begin, last);
      last = begin;
    }
    EXPECT_EQ(pairs.size(), 16U * 16);
    ScheduleSettings settings;
    settings.n_sources = settings.n_builders = 16;
    EXPECT_EQ(Table(settings, table, "t").slot_ns(), step_ns);
  }
}

}  // namespace
}  // namespace eventloom
