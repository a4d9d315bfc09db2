#include "core/runtime/process_state.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#include "child_process.hpp"

namespace eventloom {
namespace {

/// Field 22 of /proc/PID/stat, found in another way than the program does: this process's name contains no blank.
std::uint64_t start_time_of(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string field;
  for (int number = 1; number < 22; ++number) stat >> field;
  std::uint64_t start_time = 0;
  stat >> start_time;
  return start_time;
}

ProcessId id_of(const ChildProcess& child) { return {child.pid(), start_time_of(child.pid())}; }

bool comes_to(const ProcessId& process, ProcessState state) {
  return eventually([&] { return process_state(process) == state; });
}

TEST(ProcessStateTest, KnowsThisProcess) {
  const ProcessId self = this_process();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_GT(self.start_time, 0U);
  EXPECT_EQ(self.start_time, start_time_of(getpid()));
  EXPECT_EQ(process_state(self), ProcessState::running);
}

TEST(ProcessStateTest, FollowsAChildThatIsStoppedAndContinued) {
  const ChildProcess child;
  const ProcessId id = id_of(child);
  EXPECT_EQ(process_state(id), ProcessState::running);
  child.send(SIGSTOP);
  EXPECT_TRUE(comes_to(id, ProcessState::stopped));
  child.send(SIGCONT);
  EXPECT_TRUE(comes_to(id, ProcessState::running));
}

TEST(ProcessStateTest, AChildInUninterruptibleSleepWaitsForItsDisk) {
  const ChildProcess child(sleep_uninterruptibly);
  EXPECT_TRUE(comes_to(id_of(child), ProcessState::waiting_for_disk));
}

TEST(ProcessStateTest, AZombieIsDeadAndStaysSoWhenReaped) {
  ChildProcess child;
  const ProcessId id = id_of(child);
  child.send(SIGKILL);
  EXPECT_TRUE(comes_to(id, ProcessState::dead));
  ASSERT_EQ(kill(child.pid(), 0), 0) << "no longer a zombie";
  child.exit_status();
  EXPECT_EQ(process_state(id), ProcessState::dead);
}

TEST(ProcessStateTest, AnotherProcessOfTheSamePidIsNotTheOneMeant) {
  const ChildProcess child;
  ProcessId earlier = id_of(child);
  --earlier.start_time;
  EXPECT_EQ(process_state(earlier), ProcessState::dead);
  const ProcessId unknown_start{child.pid(), 0};
  EXPECT_EQ(process_state(unknown_start), ProcessState::running);
}

TEST(ProcessStateTest, NoProcessHasAPidBelowOne) {
  EXPECT_EQ(process_state({0, 0}), ProcessState::dead);
  EXPECT_EQ(process_state({-1, 0}), ProcessState::dead);
}

TEST(ProcessStateTest, ANameWithBracketsAndBlanksDoesNotMislead) {
  const ChildProcess child([] {
    prctl(PR_SET_NAME, ") Z 1 (");
    ChildProcess::wait_forever();
  });
  const auto renamed = [&] {
    std::ifstream comm("/proc/" + std::to_string(child.pid()) + "/comm");
    std::string name;
    std::getline(comm, name);
    return name == ") Z 1 (";
  };
  ASSERT_TRUE(eventually(renamed));
  EXPECT_EQ(process_state({child.pid(), 0}), ProcessState::running);
  child.send(SIGSTOP);
  EXPECT_TRUE(comes_to({child.pid(), 0}, ProcessState::stopped));
}

/// Exit code of a child that cannot open files: 0 if it considers its parent running and `gone` dead.
int judged_without_files(const ProcessId& gone) {
  const ProcessId parent = this_process();
  ChildProcess child([&] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    const bool right = process_state(parent) == ProcessState::running && process_state(gone) == ProcessState::dead;
    _exit(right ? 0 : 1);
  });
  return child.exit_status();
}

TEST(ProcessStateTest, WithoutFileDescriptorsOnlyExistenceCounts) {
  ChildProcess gone;
  const ProcessId id = id_of(gone);
  gone.send(SIGKILL);
  gone.exit_status();
  EXPECT_EQ(judged_without_files(id), 0);
}

}  // namespace
}  // namespace eventloom
