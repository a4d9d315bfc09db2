#include "core/runtime/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is of POSIX

#include <algorithm>
#include <fstream>

#include "core/runtime/idle.hpp"

namespace {
int yields = 0;
}  // namespace

/// Replaces the system's function and counts its calls.
extern "C" int sched_yield() noexcept { return ++yields, 0; }

namespace eventloom {
namespace {

TEST(Cores, RangesOfNumbers) {
  EXPECT_EQ(ranges_of({}), "");
  EXPECT_EQ(ranges_of({3}), "3");
  EXPECT_EQ(ranges_of({0, 1, 4, 6, 7, 8}), "0-1,4,6-8");
}

TEST(Cores, HardwareThreadsOfACoreAreOne) {
  std::string root = (std::filesystem::temp_directory_path() / "cores-XXXXXX").string();
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  for (const int cpu : {0, 4}) {
    const auto folder =
        std::filesystem::path(root) / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "thread_siblings_list") << "0,4\n";
  }
  EXPECT_EQ(cores_of({0, 4, 5}, root), (std::set<std::string>{"0,4", "5"}));
  std::filesystem::remove_all(root);
}

TEST(Cores, EachGetsACoreThatItMayUse) {
  EXPECT_EQ(core_of_each({{"0", "1"}, {"0"}}), (std::vector<std::string>{"1", "0"})) << "the second has no choice";
  const auto crowded = core_of_each({{"0"}, {"0"}, {}});
  EXPECT_EQ(std::ranges::count(crowded, "0"), 1);
  EXPECT_EQ(std::ranges::count(crowded, ""), 2);
}

TEST(Cores, HardwareThreadsOfOneCore) {
  const auto here = allowed_cpus();
  const auto cores = cores_of(here);
  std::vector<int> all;
  for (const auto& core : cores) {
    for (const int cpu : cpus_of(core, here)) all.push_back(cpu);
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, here) << "each belongs to one core";
  EXPECT_TRUE(cpus_of("none", here).empty());
}

TEST(Cores, WithoutCoreIsWhoFindsNoneHoweverTheyAreSharedOut) {
  EXPECT_EQ(without_core({{"0", "1"}, {"0", "1"}}), 0U);
  EXPECT_EQ(without_core({{"0", "1"}, {"0", "1"}, {"0", "1"}}), 1U);
  EXPECT_EQ(without_core({{"0"}, {"0"}}), 1U);
  // The first rank must give way to the second, and the second to the third.
  EXPECT_EQ(without_core({{"0", "1", "2"}, {"0", "1"}, {"0"}}), 0U);
  EXPECT_EQ(without_core({{"0", "1"}, {"0"}, {"1"}}), 1U);
  EXPECT_EQ(without_core({{}, {"0"}, {}}), 0U);
}

/// A waiting rank must not keep another one from their common core.
TEST(Idle, YieldsAfterAFewPolls) {
  Idle idle;
  constexpr int kPolls = 100;
  yields = 0;
  for (int i = 0; i < kPolls; ++i) idle.wait();
  EXPECT_GT(yields, kPolls / 2);
  yields = 0;
  idle.reset();
  idle.wait();
  EXPECT_EQ(yields, 0);
}

}  // namespace
}  // namespace eventloom
