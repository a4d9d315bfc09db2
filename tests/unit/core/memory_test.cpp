#include "core/runtime/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// The system files that memory_there_is() reads.
class FakeSystem : public testing::Test {
 protected:
  FakeSystem() : root_(fs::path(testing::TempDir()) / ("eventloom_memory_" + std::to_string(getpid()))) {
    write("proc/meminfo", "MemTotal:       8388608 kB\nMemFree:         100 kB\nMemAvailable:    4194304 kB\n");
  }
  ~FakeSystem() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::uint64_t least() const { return least_of(memory_there_is(root_))->bytes; }

  fs::path root_;
};

}  // namespace

TEST_F(FakeSystem, WithoutCgroupsWhatTheHostHasCounts) { EXPECT_EQ(least(), 4096 * kMiB); }

TEST_F(FakeSystem, OfCgroupsTheTightestOnTheWayUpCounts) {
  write("proc/self/cgroup", "0::/job_7/step_0\n");
  write("sys/fs/cgroup/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/job_7/step_0/memory.current", "104857600\n");
  write("sys/fs/cgroup/job_7/memory.max", std::to_string(1000 * kMiB));
  write("sys/fs/cgroup/job_7/memory.current", std::to_string(500 * kMiB));
  write("sys/fs/cgroup/job_7/memory.stat", "anon 1\nactive_file 7\ninactive_file " + std::to_string(200 * kMiB) + "\n");
  EXPECT_EQ(least(), 700 * kMiB) << "file caches are freed on demand";
  const auto bounds = memory_there_is(root_);
  EXPECT_EQ(least_of(bounds)->what, "left by the memory limit of the cgroup /job_7");
  EXPECT_FALSE(least_of(bounds)->of_process);
}

TEST_F(FakeSystem, CgroupsOfVersionOneAreReadToo) {
  write("proc/self/cgroup", "7:cpu,cpuacct:/x\n5:memory:/slurm/job_7\n0::/y\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", std::to_string(300 * kMiB));
  write("sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", std::to_string(100 * kMiB));
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1");
  EXPECT_EQ(least(), 200 * kMiB);
}

TEST_F(FakeSystem, InAContainerThePathMayBeOfAnotherNameSpace) {
  write("proc/self/cgroup", "0::/system.slice/docker-123.scope\n");
  write("sys/fs/cgroup/memory.max", std::to_string(64 * kMiB));
  write("sys/fs/cgroup/memory.current", std::to_string(100 * kMiB));
  EXPECT_EQ(least(), 0U) << "more is held than allowed";
}

TEST(Memory, IsSaidInWholeUnitsRoundedUp) {
  EXPECT_EQ(in_mebibytes(0), "0 MiB");
  EXPECT_EQ(in_mebibytes(1), "1 MiB");
  EXPECT_EQ(in_mebibytes(9216 * kMiB), "9216 MiB");
  EXPECT_EQ(in_mebibytes(52 * 1024 * kMiB), "52 GiB");
  EXPECT_EQ(in_mebibytes(~std::uint64_t{0}), "16384 PiB");
}

}  // namespace eventloom
