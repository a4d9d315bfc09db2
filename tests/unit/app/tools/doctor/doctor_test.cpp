#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/command/temporary_folder.hpp"
#include "app/tools/doctor/clock_check.hpp"
#include "app/tools/doctor/core_check.hpp"
#include "app/tools/doctor/disk_check.hpp"
#include "app/tools/doctor/disk_refusal.hpp"
#include "app/tools/doctor/exchange_check.hpp"
#include "app/tools/doctor/findings.hpp"
#include "app/tools/doctor/findings_json.hpp"
#include "app/tools/doctor/findings_text.hpp"
#include "app/tools/doctor/memory_check.hpp"
#include "app/tools/doctor/mpi_start.hpp"
#include "app/tools/doctor/network_check.hpp"
#include "app/tools/doctor/realtime_check.hpp"
#include "app/tools/doctor/shared_memory_check.hpp"
#include "core/mpi/ucx_settings.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;
using Level = FindingLevel;

/// The system files that doctor reads.
class Doctor : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const auto file = root() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  /// Creates a file in /dev/shm, as old as one left by an earlier run.
  fs::path shared(const std::string& name) {
    const auto file = write("dev/shm/" + name, "text");
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return file;
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_{"doctor-test"};
};

Finding only(const std::vector<Finding>& findings) {
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding{} : findings.front();
}

RankPlace place(const std::string& host, std::set<std::string> cores) { return {host, "", std::move(cores)}; }

TEST_F(Doctor, LeftoversAreUnusedOldFilesOfMpi) {
  const auto left = shared("ucx_shm_posix_1");
  const auto vader = shared("vader_segment.n1.0.1.2");
  const auto mpich = shared("mpich_shm_1");
  const auto intel = shared("Intel_MPI_1");
  shared("ucx_shm_posix_mapped");
  shared("ucx_shm_posix_open");
  shared("thesis");
  write("dev/shm/ucx_shm_posix_young", "text");
  write("proc/12/maps", "7f00-7f01 rw-s 0 00:19 7 /dev/shm/ucx_shm_posix_mapped\n7f02-7f03 rw-p 0 00:00 0\n");
  fs::create_directories(root() / "proc/13/fd");
  fs::create_symlink("/dev/shm/ucx_shm_posix_open", root() / "proc/13/fd/4");
  EXPECT_EQ(leftovers_in(root()), (std::vector<fs::path>{intel, mpich, left, vader}));
}

TEST_F(Doctor, LeftoversOfOthersAreNotOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can give a file to somebody";
  const auto file = shared("ucx_shm_posix_1");
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(leftovers_in(root()).empty());
}

TEST_F(Doctor, LeftoversAreRemovedByName) {
  const auto file = shared("ucx_shm_posix_1");
  const auto finding = check_shared_memory(1, root()).front();
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.fix, "rm -- " + file.string());
}

TEST_F(Doctor, WithoutSharedMemoryNothingIsLeftButTheWarning) {
  const auto findings = check_shared_memory(1, root());
  EXPECT_EQ(findings.front().level, Level::ok);
  EXPECT_EQ(findings.back().what, "there is no /dev/shm");
}

TEST(SharedMemoryRoom, IsForAllRanksOfTheHost) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(shared_memory_room(1024 * kMiB, 1024 * kMiB, 4).level, Level::ok);
  EXPECT_EQ(shared_memory_room(1024 * kMiB, 200 * kMiB, 2).level, Level::ok);
  const auto full = shared_memory_room(1024 * kMiB, 200 * kMiB, 4);
  EXPECT_EQ(full.level, Level::warning);
  EXPECT_EQ(full.fix, "ls -lS /dev/shm");
  EXPECT_NE(shared_memory_room(64 * kMiB, 64 * kMiB, 1).fix.find("--shm-size"), std::string::npos);
}

TEST(SharedMemoryRoom, TooLittleForMpiToStart) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(shared_memory_room(64 * kMiB, 20 * kMiB, 2).meaning.find("start"), std::string::npos);
  EXPECT_NE(shared_memory_room(64 * kMiB, 10 * kMiB, 2).meaning.find("with less than 18 MiB MPI may not start"),
            std::string::npos);
}

TEST_F(Doctor, WhatKeepsMpiFromStarting) {
  EXPECT_EQ(too_little_to_start(1, root()), "there is no /dev/shm");
  fs::create_directories(root() / "dev/shm");
  EXPECT_EQ(too_little_to_start(1, root()), "");
  EXPECT_NE(too_little_to_start(std::size_t{1} << 32, root()).find("free in /dev/shm"), std::string::npos);
}

TEST(UcxTransports, AreThoseOfTheUser) {
  const auto with = [](const char* chosen) {
    ::setenv("UCX_TLS", chosen, 1);
    std::string used;
    for (const char* transport : {"posix", "sysv", "cma", "tcp"})
      if (ucx_may_use(transport)) used += *transport;
    ::unsetenv("UCX_TLS");
    return used;
  };
  for (const char* all : {"", "all", "rc,sm,tcp,self", "^rc"}) EXPECT_EQ(with(all), "psct") << all;
  for (const char* of_host : {"rc,shm,self", "sm", "^tcp"}) EXPECT_EQ(with(of_host), "psc") << of_host;
  EXPECT_EQ(with("mm,self"), "ps");
  EXPECT_EQ(with("^cma"), "pst");
  EXPECT_EQ(with("^posix,sysv"), "ct");
  EXPECT_EQ(with("^shm"), "t");
  EXPECT_EQ(with("cma,tcp"), "ct");
}

TEST_F(Doctor, SharedMemoryThatTheUserLeavesOut) {
  const auto with = [&](const char* transports) {
    ::setenv("UCX_TLS", transports, 1);
    const bool starts = too_little_to_start(1, root()).empty();
    EXPECT_EQ(check_shared_memory(1, root()).back().level, starts ? Level::ok : Level::warning);
    ::unsetenv("UCX_TLS");
    return starts;
  };
  for (const char* out : {"^posix", "^cma,shm", "tcp,self", "self"}) EXPECT_TRUE(with(out)) << out;
  for (const char* in : {"", "all", "tcp,shm,self", "^cma", "posix"}) EXPECT_FALSE(with(in)) << in;
}

TEST_F(Doctor, SharedMemoryIsLeftOutForATime) {
  ::setenv("UCX_TLS", "self", 1);
  {
    const SharedMemoryLeftOut left_out;
    EXPECT_STREQ(std::getenv("UCX_TLS"), "^shm");
  }
  EXPECT_STREQ(std::getenv("UCX_TLS"), "self");
  EXPECT_EQ(std::ranges::count(mpi_variables(), "UCX_TLS"), 1);
  ::unsetenv("UCX_TLS");
  { const SharedMemoryLeftOut left_out; }
  EXPECT_EQ(std::getenv("UCX_TLS"), nullptr);
}

TEST(ExchangeCheck, MpiThatDoesNotStart) {
  const auto set_up = no_mpi({"MPI", "1.0", ExchangeBackend{}}, {"OMPI_MCA_pml", "UCX_TLS"});
  EXPECT_EQ(set_up.level, Level::warning);
  EXPECT_EQ(set_up.what, "MPI, UCX 1.0; it does not start on this host");
  EXPECT_EQ(set_up.fix, "unset OMPI_MCA_pml UCX_TLS");
  EXPECT_EQ(no_mpi({"MPI", "1.0", ExchangeBackend{}}, {}).fix, "ompi_info | grep ucx; ucx_info -d");
}

TEST_F(Doctor, ReceiveBuffersOfUdp) {
  EXPECT_EQ(only(check_network(root())).level, Level::note);
  write("proc/sys/net/core/rmem_max", "212992\n");
  EXPECT_EQ(only(check_network(root())).level, Level::warning);
  EXPECT_EQ(only(check_network(root())).fix, "sysctl -w net.core.rmem_max=67108864");
  write("proc/sys/net/core/rmem_max", "4194304\n");
  EXPECT_EQ(only(check_network(root())).level, Level::note);
  write("proc/sys/net/core/rmem_max", "67108864\n");
  EXPECT_EQ(only(check_network(root())).level, Level::ok);
}

TEST_F(Doctor, LoadOfOthersLeavesTooFewCores) {
  EXPECT_EQ(only(check_load(1, 2, root())).level, Level::note);
  write("proc/loadavg", "1.20 0 0 1/1 1\n");
  EXPECT_EQ(only(check_load(1, 2, root())).level, Level::ok);
  EXPECT_EQ(only(check_load(2, 2, root())).level, Level::warning);
  EXPECT_EQ(what_text(only(check_load(2, 2, root()))), "1.2 processes on 2 cpus, average of the last minute");
}

TEST_F(Doctor, MemoryOfTheHost) {
  write("proc/meminfo", "MemAvailable: 102400 kB\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  const auto findings = check_memory(root());
  EXPECT_EQ(findings[0].level, Level::warning);
  EXPECT_EQ(what_text(findings[0]), "100 MiB available on the host");
  EXPECT_EQ(findings[2].what, "transparent: never");
  EXPECT_EQ(findings[2].level, Level::note);
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_EQ(check_memory(root())[2].level, Level::ok);
}

TEST(LockedMemory, MattersForRdma) {
  EXPECT_EQ(locked_memory(8 << 20, false).level, Level::ok);
  EXPECT_EQ(locked_memory(std::nullopt, true).level, Level::ok);
  EXPECT_EQ(locked_memory(8 << 20, true).fix, "ulimit -l unlimited");
}

TEST(Realtime, SaysWhatIsPossibleAndWhatAllowsTheRest) {
  const auto all = realtime_finding({}, 2, 2);
  EXPECT_EQ(all.level, Level::ok);
  EXPECT_EQ(all.what, "--realtime can lock all memory, use SCHED_FIFO, bind each rank to a core");
  const auto user = realtime_finding({.lockable = 8 << 20, .fifo = {"not allowed", ""}}, 2, 2);
  EXPECT_EQ(user.level, Level::note);
  EXPECT_EQ(user.what, "--realtime can bind each rank to a core");
  EXPECT_NE(user.fix.find("memlock unlimited, rtprio 1"), std::string::npos) << user.fix;
  const auto crowded = realtime_finding({}, 3, 2);
  EXPECT_EQ(crowded.what, "--realtime can lock all memory");
  EXPECT_NE(crowded.meaning.find("3 ranks poll on 2 cores"), std::string::npos) << crowded.meaning;
  const auto endless = realtime_finding({.left_to_others = 0}, 1, 2);
  EXPECT_NE(endless.fix.find("sched_rt_runtime_us=950000"), std::string::npos) << endless.fix;
  EXPECT_EQ(realtime_finding({.lockable = 1, .fifo = {"no", ""}}, 3, 2).what, "--realtime can do nothing here");
}

TEST_F(Doctor, TransportsLeadToOtherHosts) {
  const auto transports = [&](const std::string& names, std::size_t hosts) {
    return check_exchange({"MPI", "1.0", {"ucx", "ucx", names, true}}, hosts, root()).back();
  };
  EXPECT_EQ(transports("posix,self", 1).level, Level::ok);
  EXPECT_EQ(transports("posix,self", 2).fix, "unset UCX_TLS");
  EXPECT_EQ(transports("posix,tcp", 2).level, Level::note);
  EXPECT_EQ(transports("^cma", 2).level, Level::note);
  write("sys/class/infiniband/mlx5_0/node_type", "1");
  EXPECT_EQ(transports("rc_x,self", 2).level, Level::ok);
}

TEST_F(Doctor, ExchangeThatIsNotOverUcx) {
  const auto exchange = [&](const ExchangeBackend& backend, const std::vector<std::string>& variables) {
    return check_exchange({"MPI", "1.0", backend, variables}, 1, root()).front();
  };
  const auto chosen = exchange({"ob1", "rdma", "tcp", false}, {"OMPI_MCA_osc"});
  EXPECT_EQ(chosen.level, Level::warning);
  EXPECT_EQ(chosen.what, "MPI, UCX 1.0; pml ob1, osc rdma");
  EXPECT_EQ(chosen.fix, "unset OMPI_MCA_osc; or leave out --mca of mpirun");
  const auto by_file = exchange({"ucx", "rdma", "tcp", false}, {});
  EXPECT_EQ(by_file.level, Level::warning);
  EXPECT_NE(by_file.fix.find("openmpi-mca-params"), std::string::npos);
  const auto unknown = exchange({"", "", "tcp", false}, {});
  EXPECT_EQ(unknown.level, Level::note) << "an MPI that does not report it";
  EXPECT_EQ(unknown.what, "MPI, UCX 1.0");
  EXPECT_EQ(unknown.fix, "");
}

TEST_F(Doctor, ExchangeOfOtherMpis) {
  const auto over = [&](bool is_ucx) {
    return check_exchange({"MPICH 5.0.2", "none", {"", "", "", is_ucx, "a within a host, b between hosts"}}, 2, root());
  };
  EXPECT_EQ(over(true).front().what, "MPICH 5.0.2, UCX none; a within a host, b between hosts");
  EXPECT_EQ(over(true).front().level, Level::ok);
  EXPECT_EQ(over(false).front().level, Level::note);
  EXPECT_EQ(over(false).back().level, Level::ok) << "no advice on transports of UCX";
}

TEST_F(Doctor, ContainersHideMemoryOfOtherRanks) {
  ExchangeParts parts{"MPI", "1.0", {"ucx", "ucx", "posix", true}};
  EXPECT_EQ(check_exchange(parts, 1, root()).size(), 2U);
  parts.own_namespaces = true;
  EXPECT_EQ(check_exchange(parts, 1, root()).back().fix, "unset UCX_POSIX_USE_PROC_LINK");
  EXPECT_EQ(check_exchange(parts, 1, root()).back().level, Level::warning);
  parts.proc_link = "n";
  EXPECT_EQ(check_exchange(parts, 1, root()).back().level, Level::ok);
  EXPECT_EQ(check_exchange(parts, 1, root()).back().subject, "containers");
}

TEST(ExchangeText, SaysWhatMovesTheData) {
  EXPECT_EQ(exchange_text({"ucx", "ucx", "posix,tcp", true}), "osc ucx, pml ucx, UCX transports posix,tcp");
  EXPECT_EQ(exchange_text({"ob1", "rdma", "", false}), "osc rdma, pml ob1");
  EXPECT_EQ(exchange_text({"", "", "", false, "libfabric"}), "libfabric");
  EXPECT_EQ(exchange_text({}), "as this MPI chooses, which it does not say");
}

TEST(ExchangeParts, ReportWhatTheUserHasChosen) {
  ::setenv("OMPI_MCA_osc", "rdma", 1);
  ::setenv("OMPI_MCA_pml", "ucx", 1);
  EXPECT_EQ(exchange_parts().variables, std::vector<std::string>{"OMPI_MCA_osc"});
  ::unsetenv("OMPI_MCA_osc");
  ::unsetenv("OMPI_MCA_pml");
}

TEST(Findings, HostsWithOtherVersionsAreReported) {
  const Finding one{.subject = "mpi", .what = "4.1.4", .hosts = {"a"}};
  const Finding other{.subject = "mpi", .what = "5.0.1", .hosts = {"b"}};
  EXPECT_TRUE(check_agreement(merged({one, one})).empty());
  EXPECT_EQ(only(check_agreement(merged({one, other}))).level, Level::warning);
}

TEST(CoreCheck, RanksThatShareCores) {
  const auto shared = check_cores({place("a", {"0"}), place("a", {"0"}), place("b", {"0"})}, false);
  EXPECT_EQ(shared.front().what, "2 ranks on a share 1 core");
  EXPECT_EQ(shared.front().fix, "mpirun -np 2 --bind-to core eventloom run ...");
  EXPECT_EQ(shared.back().level, Level::ok);
  const auto srun = check_cores({place("a", {"0", "1"}), place("a", {"0", "1"})}, true);
  EXPECT_EQ(only(srun).level, Level::note);
  EXPECT_EQ(only(srun).fix, "srun -n 2 --cpu-bind=cores eventloom run ...");
  EXPECT_EQ(only(check_cores({place("a", {"0", "1"})}, false)).level, Level::ok);
}

TEST(ClockCheck, HostsThatAreApart) {
  EXPECT_EQ(clock_finding({{"a", 0}, {"a", 9e9}}, 0).level, Level::ok);
  EXPECT_EQ(clock_finding({{"a", 0}, {"b", 9e5}}, 0).level, Level::ok);
  EXPECT_EQ(clock_finding({{"a", 0}, {"b", 5e6}}, 5e6).level, Level::ok);
  const auto apart = clock_finding({{"a", 0}, {"b", -5e6}, {"c", 1e6}}, 1e3);
  EXPECT_EQ(apart.level, Level::warning);
  EXPECT_EQ(apart.what, "the time of day on c is 6 ms ahead of b");
}

TEST_F(Doctor, DiskIsTriedAndLeftAsItWas) {
  const auto trial = try_disk_within(root(), std::chrono::minutes(5));
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->error, 0);
  EXPECT_GT(trial->bytes_per_s, 0);
  EXPECT_GT(trial->free_bytes, 0U);
  EXPECT_TRUE(trial->locks);
  EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(Doctor, DiskThatCannotBeTried) {
  const auto trial = try_disk(root() / "missing");
  EXPECT_EQ(trial.error, ENOENT);
  const auto finding = only(disk_findings("unused", trial));
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.fix, "mkdir -p " + (root() / "missing").string());
  EXPECT_EQ(only(disk_findings("a b", std::nullopt)).fix, "df -h 'a b'");
}

TEST_F(Doctor, DiskOfAFileIsThatOfItsFolder) {
  const auto file = write("there/run.h5", "text");
  EXPECT_EQ(folder_of_output(file), file.parent_path());
  EXPECT_EQ(folder_of_output(file.parent_path()), file.parent_path());
  EXPECT_EQ(folder_of_output(root() / "run.h5"), root());
  EXPECT_EQ(folder_of_output(root() / "run7"), root() / "run7");
  EXPECT_EQ(folder_of_output("no_such_run.h5"), ".");
  EXPECT_EQ(try_disk(file).error, 0);
}

TEST_F(Doctor, EachRefusalHasItsFix) {
  const auto elsewhere = [](const std::string& fix) { return fix.find("another file system") != std::string::npos; };
  const auto file = write("a file", "text");
  EXPECT_EQ(fix_of_refusal(root() / "new", ENOENT), "mkdir -p " + (root() / "new").string());
  EXPECT_TRUE(elsewhere(fix_of_refusal(root(), ENOENT))) << "as in /proc";
  EXPECT_TRUE(elsewhere(fix_of_refusal(root(), EROFS)));
  EXPECT_EQ(fix_of_refusal(file / "b", ENOTDIR).find("ls -l '" + file.string() + "';"), 0U);
  EXPECT_EQ(fix_of_refusal("a", ENOSPC), "df -h a; df -i a");
  EXPECT_EQ(fix_of_refusal("a", EDQUOT), "quota -s");
  EXPECT_EQ(fix_of_refusal("a", EIO), "ls -ld a");
  EXPECT_EQ(fix_of_refusal(root(), EACCES), "chmod u+wx " + root().string());
  EXPECT_EQ(fix_of_refusal("no such folder", EACCES), "namei -l 'no such folder'");
}

TEST_F(Doctor, NoFixChangesTheFoldersOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can give a folder to somebody";
  const auto folder = root() / "theirs";
  fs::create_directories(folder);
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_EQ(fix_of_refusal(folder, EACCES).find("chmod"), std::string::npos);
}

TEST(DiskFindings, EachHasItsCause) {
  const auto levels = [](const DiskTrial& trial) {
    std::vector<Level> found;
    for (const auto& finding : disk_findings(".", trial)) found.push_back(finding.level);
    return found;
  };
  EXPECT_EQ(levels({0, std::uint64_t{1} << 40, 5e8, true}), (std::vector{Level::ok, Level::ok, Level::ok}));
  EXPECT_EQ(levels({0, 1000, 0, true}), (std::vector{Level::warning, Level::note, Level::ok}));
  EXPECT_EQ(levels({0, std::uint64_t{1} << 40, 5e7, true}), (std::vector{Level::ok, Level::warning, Level::ok}));
  EXPECT_EQ(levels({0, std::uint64_t{1} << 40, 5e8, false}), (std::vector{Level::ok, Level::ok, Level::warning}));
}

Finding speed_on(const std::string& host, double speed) {
  return {.subject = "disk", .what = "{} written", .measured = Measured{speed, speed, "MB/s"}, .hosts = {host}};
}

TEST(Findings, HostsThatAgreeTakeOneLine) {
  const Finding slow{
      .subject = "disk", .level = Level::warning, .what = "slow", .meaning = "m", .fix = "c", .hosts = {"c"}};
  const auto all = merged({speed_on("a", 500), {.subject = "udp", .hosts = {"a", "b", "c"}}, speed_on("b", 250), slow});
  ASSERT_EQ(all.size(), 3U);
  std::ostringstream out;
  print_findings(out, all, 3);
  EXPECT_EQ(out.str(),
            "ok       disk           a, b: 250 to 500 MB/s written\n"
            "warning  disk           c: slow\n"
            "                        m\n"
            "                        mend: c\n"
            "ok       udp            \n"
            "1 warning\n");
}

TEST(Findings, ExitCodeReportsWarnings) {
  EXPECT_EQ(exit_code_of({{.level = Level::ok}, {.level = Level::note}}), 0);
  EXPECT_EQ(exit_code_of({{.level = Level::ok}, {.level = Level::warning}}), 3);
}

TEST(Findings, AreTheSameAfterTheirWayToRank0) {
  auto finding = speed_on("a", 500);
  finding.level = Level::note;
  finding.meaning = "m";
  finding.fix = "c";
  EXPECT_EQ(finding_json(finding_of(finding_json(finding))), finding_json(finding));
  EXPECT_EQ(findings_json({finding}, 2, {"a"})["findings"][0]["what"], "500 MB/s written");
}

}  // namespace
}  // namespace eventloom
