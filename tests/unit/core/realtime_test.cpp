#include "core/runtime/realtime.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/runtime/cores.hpp"

namespace eventloom {
namespace {

class RealtimeFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("realtime-" + std::to_string(::getpid()));
};

TEST_F(RealtimeFiles, ShareThatTheKernelLeavesToOthers) {
  EXPECT_FALSE(left_to_others(root_).has_value());
  write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
  write("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
  EXPECT_NEAR(left_to_others(root_).value(), 0.05, 1e-9);
  write("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
  EXPECT_EQ(left_to_others(root_), 0);
}

TEST(FifoDanger, RanksThatShareCores) {
  EXPECT_FALSE(fifo_danger({.ranks = 2, .threads = 1, .cores = 2}).refused());
  EXPECT_TRUE(fifo_danger({.ranks = 3, .threads = 1, .cores = 2}).refused());
  EXPECT_TRUE(fifo_danger({.ranks = 1, .threads = 3, .cores = 2}).refused()) << "threads of a rank";
  EXPECT_FALSE(fifo_danger({.ranks = 1, .threads = 2, .cores = 2}).refused());
}

TEST(FifoDanger, KernelThatLeavesNothingToOthers) {
  EXPECT_TRUE(fifo_danger({.ranks = 1, .threads = 1, .cores = 8, .left_to_others = 0}).refused());
  EXPECT_FALSE(fifo_danger({.ranks = 1, .threads = 1, .cores = 8, .left_to_others = 0.05}).refused());
}

/// The scheduling policy of the calling thread.
int policy() { return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

TEST(Fifo, TryingChangesNothing) {
  const int before = policy();
  const bool refused = try_fifo().refused();
  EXPECT_EQ(policy(), before);
  std::thread([&] { EXPECT_EQ(use_fifo().refused(), refused); }).join();
}

TEST(Fifo, ThreadsStartedLaterAreOrdinary) {
  std::thread([] {
    if (use_fifo().refused()) GTEST_SKIP() << "not allowed here";
    EXPECT_EQ(policy(), SCHED_FIFO);
    std::thread([] { EXPECT_EQ(policy(), SCHED_OTHER); }).join();
  }).join();
}

TEST(Pinning, BindsTheCallingThreadOnly) {
  const auto before = allowed_cpus();
  std::thread([&] {
    ASSERT_FALSE(pin_to({before.back()}).refused());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
  EXPECT_TRUE(pin_to({}).refused()) << "no core at all";
}

}  // namespace
}  // namespace eventloom
