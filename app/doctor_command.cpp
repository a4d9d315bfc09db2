#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.hpp"
#include "app/doctor/clock_check.hpp"
#include "app/doctor/core_check.hpp"
#include "app/doctor/disk_check.hpp"
#include "app/doctor/exchange_check.hpp"
#include "app/doctor/findings.hpp"
#include "app/doctor/findings_json.hpp"
#include "app/doctor/findings_text.hpp"
#include "app/doctor/memory_check.hpp"
#include "app/doctor/network_check.hpp"
#include "app/doctor/shared_memory_check.hpp"
#include "app/mpi_command.hpp"
#include "app/options.hpp"
#include "app/rank_places.hpp"
#include "app/run/json_message.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// A disk that answers takes little more than two.
constexpr auto kLongestTrial = std::chrono::seconds(15);

struct DoctorConfig {
  std::filesystem::path output;
  bool json = false;
  std::string effective;
};

std::optional<DoctorConfig> parse_config(int argc, const char* const* argv) {
  CommandLine line(
      "doctor",
      "doctor [options], alone or under the mpirun or srun of a run\n"
      "What on the hosts of a run would hold it back, and the command that mends it: MPI and UCX, cores\n"
      "and load, shared memory and what killed runs left there, memory, UDP, disk, locks, clocks. Changes\n"
      "nothing. Writes up to 256 MiB a host for some seconds, in a file that is never seen.\n"
      "Exit code 0, or 3 with warnings.");
  line.options().add_options()("output", text_value("DIR", "."),
                               "folder to try, or the output of a run, whose folder it is")(
      "json", po::bool_switch(), "print one JSON object instead");
  const auto values = line.parse(argc, argv);
  if (!values) return std::nullopt;
  return DoctorConfig{(*values)["output"].as<std::string>(), (*values)["json"].as<bool>(),
                      line.effective_config(*values)};
}

/// What one rank of a host finds there.
std::vector<Finding> check_host(const DoctorConfig& config, const HostPlaces& host, std::size_t hosts) {
  std::vector<Finding> all;
  const auto add = [&](std::vector<Finding> some) { std::ranges::move(some, std::back_inserter(all)); };
  add(check_exchange(exchange_parts(), hosts));
  add(check_load(host.ranks.size(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN))));
  add(check_shared_memory(host.ranks.size()));
  add(check_memory());
  add(check_network());
  add(disk_findings(config.output, try_disk_within(config.output, kLongestTrial)));
  for (auto& finding : all) finding.hosts = {host.host};
  return all;
}

/// Collective: the findings of all hosts.
std::vector<Finding> check_hosts(const DoctorConfig& config, const std::vector<HostPlaces>& hosts,
                                 const Collective& ranks) {
  auto mine = nlohmann::json::array();
  agree(ranks, [&] {
    for (const auto& host : hosts) {
      if (host.ranks.front() != ranks.rank()) continue;
      for (const auto& finding : check_host(config, host, hosts.size())) mine.emplace_back(finding_json(finding));
    }
  });
  std::vector<Finding> all;
  for (const auto& of_rank : all_gather_json(ranks, mine)) {
    for (const auto& finding : of_rank) all.push_back(finding_of(finding));
  }
  return all;
}

bool under_srun() { return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("SLURM_STEP_ID") != nullptr; }

/// Collective.
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

/// Collective.
int examine(const DoctorConfig& config, const Communicator& communicator) {
  const auto places = rank_places(communicator);
  std::vector<std::string> hosts;
  for (const auto& host : hosts_of(places)) hosts.push_back(host.host);
  const auto findings = check_all(config, places, hosts, communicator);
  if (communicator.rank() != 0) return exit_code_of(findings);
  if (config.json) {
    using Json = nlohmann::ordered_json;
    std::cout << findings_json(findings, communicator.size(), hosts).dump(2, ' ', false, Json::error_handler_t::replace)
              << '\n';
  } else {
    print_findings(std::cout, findings, hosts.size());
  }
  return exit_code_of(findings);
}

}  // namespace

int doctor_command(int argc, const char* const* argv) {
  return run_inside_mpi<DoctorConfig>(
      "doctor", [&] { return parse_config(argc, argv); }, [](const DoctorConfig& config) { return config.effective; },
      examine);
}

}  // namespace eventloom
