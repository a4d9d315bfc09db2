#include "app/tools/plan/launch.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "app/command/shell_word.hpp"
#include "app/run/run_config.hpp"
#include "app/tools/plan/plan_report.hpp"
#include "tests/unit/app/tools/plan/requests.hpp"

namespace eventloom {

namespace {

PlanRequest two_nodes() {
  PlanRequest request;
  request.nodes = 2;
  request.cores_per_node = 2;
  request.sources = 2;
  return request;
}

std::vector<const char*> pointers(const std::vector<std::string>& words) {
  std::vector<const char*> out;
  for (const auto& word : words) out.push_back(word.c_str());
  return out;
}

}  // namespace

TEST(PlanLaunch, TheRunTakesItsOptionsAsPlanned) {
  for (auto request : many_requests()) {
    request.memory_per_node = std::uint64_t{1} << 40;
    const Plan plan(request);
    std::vector<std::string> words = {"run", "--source", "gen:poisson", "--define", "tag"};
    const auto options = run_options(plan);
    words.insert(words.end(), options.begin(), options.end());
    const auto argv = pointers(words);
    const auto config = parse_run_config(static_cast<int>(argv.size()), argv.data());
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->exchange.builders, plan.placement.roles.builders);
    EXPECT_EQ(config->exchange.filters, plan.placement.roles.filters);
    EXPECT_EQ(config->exchange.schedule.name, plan.placement.schedule);
    EXPECT_EQ(ring_size({}, config->exchange.ring), plan.choice.ring);
    EXPECT_EQ(config->exchange.in_flight.slices, plan.choice.slices_in_flight);
    EXPECT_EQ(config->building.epochs_per_slice, plan.choice.epochs_per_slice);
  }
}

TEST(PlanLaunch, TheRunTakesTheSimulatedSchedule) {
  auto request = two_nodes();
  request.simulated = SimulatedSchedule{"round-robin", 85'887, 1U << 20, 0.8, "chaotic", 0.7};
  const Plan plan(request);
  std::vector<std::string> words = {"run", "--source", "gen:poisson", "--define", "tag"};
  const auto options = run_options(plan);
  words.insert(words.end(), options.begin(), options.end());
  const auto argv = pointers(words);
  const auto config = parse_run_config(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(config->exchange.schedule.name, "round-robin");
  EXPECT_EQ(config->exchange.schedule.slot_ns, 85'887U);
}

TEST(PlanLaunch, RankFileNamesEachRankOnce) {
  const Plan plan(two_nodes());
  EXPECT_EQ(rankfile_text(plan, {}),
            "# eventloom plan\nrank 0=+n0 slot=0\nrank 1=+n1 slot=0\nrank 2=+n0 slot=1\nrank 3=+n1 slot=1\n");
  EXPECT_EQ(rankfile_text(plan, {{"aa", "bb"}, {}, {}}),
            "# eventloom plan\nrank 0=aa slot=0\nrank 1=bb slot=0\nrank 2=aa slot=1\nrank 3=bb slot=1\n");
}

TEST(PlanLaunch, CommandsNameRanksNodesAndFiles) {
  const Plan plan(two_nodes());
  const auto plain = mpirun_command(plan, {});
  EXPECT_TRUE(plain.starts_with("mpirun -np 4 --map-by node --bind-to core eventloom run --source URI --define DEF"));
  const auto filed = mpirun_command(plan, {{}, {"it's/*.epochs"}, "plan.rankfile"});
  EXPECT_TRUE(filed.starts_with(R"(mpirun -np 4 --rankfile plan.rankfile eventloom run --source 'it'\''s/*.epochs' )"))
      << filed;
  EXPECT_TRUE(mpirun_command(plan, {{"aa", "bb"}, {}, {}}).starts_with("mpirun -np 4 --host aa:2,bb:2 --map-by node"));
  const auto srun = srun_command(plan, {});
  for (const auto* words : {"--mpi=pmix", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--distribution=cyclic"}) {
    EXPECT_NE(srun.find(words), std::string::npos) << srun;
  }
}

TEST(PlanLaunch, RankFilesOfOpenMpi5AreMappings) {
  EXPECT_EQ(launcher_of("Open MPI v4.1.4"), Launcher::open_mpi_4);
  EXPECT_EQ(launcher_of("Open MPI v5.0.7"), Launcher::open_mpi_5);
  EXPECT_EQ(launcher_of("Open MPI v10.0.0rc1"), Launcher::open_mpi_5);
  const Plan plan(two_nodes());
  const auto simple = mpirun_command(plan, {{}, {}, "a/plan.rankfile", Launcher::open_mpi_5});
  EXPECT_TRUE(simple.starts_with("mpirun -np 4 --map-by rankfile:file=a/plan.rankfile eventloom run ")) << simple;
  for (const std::string name : {"a-b/plan", "plan,b", "plan:b"}) {
    const auto by_descriptor = mpirun_command(plan, {{}, {}, name, Launcher::open_mpi_5});
    EXPECT_TRUE(by_descriptor.starts_with("mpirun -np 4 --map-by rankfile:file=/dev/fd/9 eventloom ")) << by_descriptor;
    EXPECT_TRUE(by_descriptor.ends_with(" 9<" + shell_word(name))) << by_descriptor;
  }
}

TEST(PlanLaunch, OptionsOfHydra) {
  EXPECT_EQ(launcher_of("MPICH 5.0.2"), Launcher::hydra);
  EXPECT_EQ(launcher_of("Intel(R) MPI Library 2021.18.0 for Linux* OS"), Launcher::hydra);
  const Plan plan(two_nodes());
  EXPECT_TRUE(mpirun_command(plan, {{}, {}, {}, Launcher::hydra})
                  .starts_with("mpiexec -n 4 -ppn 1 -bind-to core eventloom run --source URI"));
  EXPECT_TRUE(mpirun_command(plan, {{"aa", "bb"}, {}, {}, Launcher::hydra})
                  .starts_with("mpiexec -n 4 -ppn 1 -hosts aa,bb -bind-to core eventloom run "));
  EXPECT_TRUE(srun_command(plan, {{}, {}, {}, Launcher::hydra}).starts_with("srun --mpi=pmi2 --nodes=2 "));
}

TEST(PlanLaunch, NumbersBecomeRanges) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({3}), "3");
  EXPECT_EQ(ranges_text({0, 1}), "0-1");
  EXPECT_EQ(ranges_text({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(ranges_text({1, 4}), "1,4");
  EXPECT_EQ(ranges_text({0, 4, 8, 12}), "0,4..12");
  EXPECT_EQ(ranges_text({0, 1, 2, 7, 9, 11, 20}), "0-2,7,9..11,20");
}

TEST(PlanLaunch, JsonListsAllRanksAndNodes) {
  for (const auto& request : many_requests()) {
    if (request.nodes > 4 || request.cores_per_node > 8) continue;
    const Plan plan(request);
    const auto json = plan_json(plan, {});
    ASSERT_EQ(json["rank_list"].size(), static_cast<std::size_t>(plan.placement.roles.ranks));
    std::vector<std::uint64_t> nodes(request.nodes);
    for (const auto& rank : json["rank_list"]) {
      nodes.at(rank["node"].get<std::size_t>()) += rank["ring_bytes"].get<std::uint64_t>();
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) EXPECT_EQ(json["node_list"][n]["ring_bytes"], nodes[n]);
    EXPECT_EQ(json["why"].size(), 9U);
  }
}

}  // namespace eventloom
