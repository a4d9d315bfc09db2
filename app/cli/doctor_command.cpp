#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/launcher.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/command/rank_places.hpp"
#include "app/document/json_message.hpp"
#include "app/tools/doctor/clock_check.hpp"
#include "app/tools/doctor/core_check.hpp"
#include "app/tools/doctor/disk_check.hpp"
#include "app/tools/doctor/exchange_check.hpp"
#include "app/tools/doctor/findings.hpp"
#include "app/tools/doctor/findings_json.hpp"
#include "app/tools/doctor/findings_text.hpp"
#include "app/tools/doctor/memory_check.hpp"
#include "app/tools/doctor/mpi_start.hpp"
#include "app/tools/doctor/network_check.hpp"
#include "app/tools/doctor/realtime_check.hpp"
#include "app/tools/doctor/shared_memory_check.hpp"
#include "core/runtime/cores.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// A disk that responds takes little more than two seconds.
constexpr auto kLongestTrial = std::chrono::seconds(15);

struct DoctorConfig {
  std::filesystem::path output;
  bool json = false;
  std::string effective;
};

std::optional<DoctorConfig> parse_config(int argc, const char* const* argv) {
  CommandLine line("doctor",
                   "doctor [options], alone or under the mpirun or srun of a run\n"
                   "Checks the hosts of a run for problems and suggests fixes: MPI and UCX, cores and load, shared\n"
                   "memory and what killed runs left there, memory, UDP, disk, locks, clocks. Changes nothing. Writes\n"
                   "up to 256 MiB per host for some seconds, in a file without a name.\n"
                   "Exit code 0, or 3 with warnings.");
  add_option_rows(line.options(),
                  {{"output", text_value("DIR", "."), "folder to try, or the output of a run, whose folder it is"},
                   {"json", po::bool_switch(), "print one JSON object instead"}});
  const auto values = line.parse(argc, argv);
  if (!values) return std::nullopt;
  return DoctorConfig{(*values)["output"].as<std::string>(), (*values)["json"].as<bool>(),
                      line.effective_config(*values)};
}

std::size_t cpus() { return static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)); }

/// Returns the findings of one rank about its host, which runs `ranks` ranks on `cores` cores. `of_mpi`: the findings
/// on MPI, which come first.
std::vector<Finding> check_host(const DoctorConfig& config, const std::string& host, std::size_t ranks,
                                std::size_t cores, std::vector<Finding> of_mpi) {
  auto all = std::move(of_mpi);
  const auto add = [&](std::vector<Finding> some) { std::ranges::move(some, std::back_inserter(all)); };
  add(check_load(ranks, cpus()));
  add(check_shared_memory(ranks));
  add(check_memory());
  add({check_realtime(ranks, cores)});
  add(check_network());
  add(disk_findings(config.output, try_disk_within(config.output, kLongestTrial)));
  for (auto& finding : all) finding.hosts = {host};
  return all;
}

/// Collective. Returns the findings of all hosts.
std::vector<Finding> check_hosts(const DoctorConfig& config, const std::vector<HostPlaces>& hosts,
                                 const Collective& ranks) {
  auto mine = Json::array();
  agree(ranks, [&] {
    for (const auto& host : hosts) {
      if (host.ranks.front() != ranks.rank()) continue;
      auto of_mpi = check_exchange(exchange_parts(), hosts.size());
      const auto found = check_host(config, host.host, host.ranks.size(), host.cores.size(), std::move(of_mpi));
      for (const auto& finding : found) mine.emplace_back(finding_json(finding));
    }
  });
  std::vector<Finding> all;
  for (const auto& of_rank : all_gather_json(ranks, mine)) {
    for (const auto& finding : of_rank) all.push_back(finding_of(finding));
  }
  return all;
}

bool under_srun() { return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("SLURM_STEP_ID") != nullptr; }

/// Collective. Returns the merged findings of all checks.
std::vector<Finding> check_all(const DoctorConfig& config, const std::vector<RankPlace>& places,
                               const std::vector<std::string>& hosts, const Communicator& communicator) {
  auto all = merged(check_hosts(config, hosts_of(places), communicator));
  const auto add = [&](std::vector<Finding> some) { std::ranges::move(some, std::back_inserter(all)); };
  auto for_all = check_agreement(all);
  for_all.push_back(check_clocks(communicator));
  for (auto& finding : for_all) finding.hosts = hosts;
  add(std::move(for_all));
  add(check_cores(places, under_srun()));
  return merged(all);
}

void report(const DoctorConfig& config, const std::vector<Finding>& findings, int ranks,
            const std::vector<std::string>& hosts) {
  if (config.json) {
    std::cout << findings_json(findings, ranks, hosts).dump(2) << '\n';
  } else {
    print_findings(std::cout, findings, hosts.size());
  }
}

/// Collective. Returns the exit code.
int examine(const DoctorConfig& config, const Communicator& communicator) {
  const auto places = rank_places(communicator);
  std::vector<std::string> hosts;
  for (const auto& host : hosts_of(places)) hosts.push_back(host.host);
  const auto findings = check_all(config, places, hosts, communicator);
  if (communicator.rank() == 0) report(config, findings, communicator.size(), hosts);
  return exit_code_of(findings);
}

/// Runs the checks that work without MPI, if MPI does not start.
int examine_without_mpi(const DoctorConfig& config) {
  const auto parts = exchange_parts();
  auto of_mpi = check_exchange(parts, 1);
  of_mpi.front() = no_mpi(parts, mpi_variables());
  const auto findings = check_host(config, host_name(), 1, cores_of(allowed_cpus()).size(), std::move(of_mpi));
  report(config, findings, 1, {host_name()});
  return exit_code_of(findings);
}

}  // namespace

int doctor_command(int argc, const char* const* argv) {
  const auto share = host_share(ProcessPlace::of_this(), cpus());
  std::optional<SharedMemoryLeftOut> left_out;
  if (!too_little_to_start(share.ranks).empty()) left_out.emplace();
  int alone = kExitOk;
  const auto parse = [&] {
    auto config = parse_config(argc, argv);
    if (!config || share.launched || mpi_starts()) return config;
    left_out.reset();
    alone = examine_without_mpi(*config);
    config.reset();
    return config;
  };
  const auto work = [&](const DoctorConfig& config, const Communicator& communicator) {
    // MPI has started; the checks must see the user's own settings.
    left_out.reset();
    return examine(config, communicator);
  };
  const auto together = run_inside_mpi<DoctorConfig>(
      "doctor", parse, [](const DoctorConfig& config) { return config.effective; }, work);
  return together == kExitOk ? alone : together;
}

}  // namespace eventloom
