#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/tools/plan/network.hpp"
#include "app/tools/plan/plan_report.hpp"
#include "app/tools/plan/schedule_comparison.hpp"
#include "app/tools/simulate/optimised_schedule.hpp"
#include "app/tools/simulate/simulate_options.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/files/partial_file.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kMostRanks = 100'000;

void add_plan_options(po::options_description& options) {
  add_option_rows(
      options, {{"nodes", text_value("N"), "nodes (default 1, or as many as --hosts)"},
                {"hosts", text_value("LIST", "", "those of the allocation"), "names of the nodes, with commas between"},
                {"cores-per-node", text_value("N", "0", "those of this machine"),
                 "cores of a node, hardware threads not counted"},
                {"sources", text_value("N"), "number of sources"},
                {"source", list_value("URI"),
                 "the sources themselves, as for 'eventloom run', instead of their number; repeatable"},
                {"filters", text_value("N", "0", "0: builders select and write"), "number of filters"},
                {"hits-per-second", text_value("N"),
                 "of one source; determines the number of builders and the length of slices (default: unknown)"},
                {"hit-bytes", text_value("BYTES", "8"), "of a hit: 8 and 4 for each payload word"},
                {"epoch", text_value("TIME", "10us"), "length of an epoch, with a unit"},
                {"epochs-per-slice", text_value("N"),
                 "epochs built together (default: those in 1 ms, at least 100, or by the rate)"},
                {"memory-per-node", text_value("BYTES"),
                 "memory available to the ranks of a node; rings are reduced to fit (default: no limit)"},
                {"l2-cache", text_value("BYTES", "2MiB"), "second-level cache of a core"},
                {"rankfile", text_value("FILE", "", "none"), "write an Open MPI rank file"},
                {"json", po::bool_switch(), "show the plan as JSON"},
                {"simulate", po::bool_switch(),
                 "simulate the nodes with each schedule, with and without slots, and propose the best; all nodes send "
                 "and build"}});
}

/// Options that only --simulate reads, and --link.
po::options_description network_options() {
  po::options_description options("With --simulate; --link also without", 110, 70);
  add_network_options(options);
  add_optimise_option(options);
  return options;
}

void check_simulate(const po::variables_map& values) {
  // A printed setup names all options.
  if (values["simulate"].as<bool>() || !values["simulate"].defaulted()) return;
  const auto options = network_options();
  for (const auto& option : options.options()) {
    const auto& name = option->long_name();
    if (name == "link") continue;
    if (values.count(name) != 0 && !values[name].defaulted()) throw UserError("--" + name + " needs --simulate");
  }
}

std::vector<std::string> host_names(const std::string& list) {
  std::vector<std::string> hosts;
  std::istringstream in(list);
  for (std::string host; std::getline(in, host, ',');) hosts.push_back(host);
  if (list.ends_with(',')) hosts.emplace_back();
  for (const auto& host : hosts) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; };
    if (host.empty() || !std::ranges::all_of(host, allowed))
      throw UserError("--hosts: '" + host + "' is not a host name");
  }
  if (std::set(hosts.begin(), hosts.end()).size() != hosts.size()) throw UserError("--hosts: a name is given twice");
  return hosts;
}

std::uint32_t node_count(const po::variables_map& values, const std::vector<std::string>& hosts) {
  const auto named = static_cast<std::uint32_t>(hosts.size());
  if (values.count("nodes") == 0) return std::max(named, 1U);
  const auto nodes = static_cast<std::uint32_t>(count_option(values, "nodes", 1, kMostRanks));
  if (named != 0 && named != nodes) {
    throw UserError("--nodes " + std::to_string(nodes) + ", but --hosts names " + std::to_string(named) +
                    "; omit --nodes");
  }
  return nodes;
}

std::uint32_t source_count(const po::variables_map& values, const std::vector<std::string>& uris) {
  if (values.count("sources") == 0 && uris.empty()) {
    throw UserError("no sources given; use --sources N or --source URI");
  }
  if (uris.empty()) return static_cast<std::uint32_t>(count_option(values, "sources", 1, 65535));
  if (values.count("sources") != 0) throw UserError("give --sources N or --source URI, not both");
  const auto found = in_range<std::size_t>("source", expand_sources(uris).size(), 1, 65535);
  return static_cast<std::uint32_t>(found);
}

void read_data_options(const po::variables_map& values, PlanRequest& request) {
  constexpr std::uint64_t kMany = 1'000'000'000'000;
  if (values.count("hits-per-second") != 0) {
    request.hits_per_second = static_cast<double>(count_option(values, "hits-per-second", 1, kMany));
  }
  request.hit_bytes = static_cast<double>(bytes_option(values, "hit-bytes", 4, std::uint64_t{1} << 30));
  request.epoch_ps = parsed("epoch", [&] { return parse_picoseconds(values["epoch"].as<std::string>()); });
  in_range<std::uint64_t>("epoch", request.epoch_ps, 1, kMany);
  if (values.count("epochs-per-slice") != 0) {
    request.epochs_per_slice = count_option(values, "epochs-per-slice", 1, 1U << 28);
  }
}

/// At its default, --link is only a model for the simulation.
void read_network_options(const po::variables_map& values, PlanRequest& request) {
  if (!values["link"].defaulted()) request.link_rate = network_settings(values).link_rate;
  request.transfers_in_flight = transfers_option(values);
  if (values["simulate"].as<bool>() && !values["sizes"].defaulted()) {
    request.message_bytes = std::ranges::max(message_sizes(values));
  }
}

PlanRequest to_request(const po::variables_map& values, const PlanNames& names) {
  PlanRequest request;
  request.nodes = node_count(values, names.hosts);
  request.cores_per_node = static_cast<std::uint32_t>(count_option(values, "cores-per-node", 0, kMostRanks));
  if (request.cores_per_node == 0) request.cores_per_node = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t ranks = std::uint64_t{request.nodes} * request.cores_per_node;
  if (ranks > kMostRanks) {
    throw UserError("--nodes times --cores-per-node must be at most " + std::to_string(kMostRanks) + ", not " +
                    std::to_string(ranks));
  }
  request.sources = source_count(values, names.sources);
  const std::uint64_t usable = std::uint64_t{request.nodes} * request.usable_cores();
  request.filters = static_cast<std::uint32_t>(count_option(values, "filters", 0, usable));
  request.l2_cache = bytes_option(values, "l2-cache", 1024, std::uint64_t{1} << 40);
  if (values.count("memory-per-node") != 0) {
    request.memory_per_node = bytes_option(values, "memory-per-node", 1, std::uint64_t{1} << 60);
  }
  read_data_options(values, request);
  read_network_options(values, request);
  return request;
}

bool is_rankfile(const std::filesystem::path& file) {
  return head_of(file, kRankfileHeader.size() + 1) == std::string(kRankfileHeader) + '\n';
}

void write_rankfile(const Plan& plan, const PlanNames& names) {
  write_text_file(names.rankfile, rankfile_text(plan, names), is_rankfile);
}

void check_files(const po::variables_map& values, const PlanNames& names) {
  FilePlan files;
  plan_config(files, values);
  for (const auto& spec : expand_sources(names.sources)) {
    for (const auto& file : files_of(spec)) {
      if (!std::filesystem::exists(file)) {
        throw UserError("source '" + file + "' does not exist; --sources N plans without files");
      }
      files.read(file, "the source");
    }
  }
  if (values["simulate"].as<bool>()) {
    plan_topology(files, values);
    plan_optimise(files, values);
  }
  if (!names.rankfile.empty()) {
    files.write(names.rankfile, "--rankfile", is_rankfile, FilePlan::Existing::replace);
  }
  files.check();
}

void print_plan(const po::variables_map& values, const Plan& plan, const PlanNames& names,
                const std::optional<ScheduleComparison>& comparison) {
  if (!values["json"].as<bool>()) {
    std::cout << (comparison ? "\n" : "") << plan_text(plan, names);
    return;
  }
  auto json = plan_json(plan, names);
  if (comparison) json["simulated"] = comparison->points;
  if (comparison && comparison->measured) json["calibration"] = to_json(*comparison->measured);
  std::cout << json.dump(2) << '\n';
}

}  // namespace

int plan_command(int argc, const char* const* argv) {
  CommandLine line(
      "plan",
      "plan --nodes N --cores-per-node N --sources N [options]\nProposes roles, ranks, rings and their memory for a "
      "run on a cluster, with reasons, and states whether the network can carry it (exit code 3 if not). Starts "
      "nothing.");
  add_plan_options(line.options());
  line.options().add(network_options());
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  check_simulate(*values);
  PlanNames names;
  names.hosts = host_names((*values)["hosts"].as<std::string>());
  if (values->count("source") != 0) names.sources = (*values)["source"].as<std::vector<std::string>>();
  names.rankfile = (*values)["rankfile"].as<std::string>();
  names.launcher = launcher_of(MpiEnvironment::mpi_version());
  if (!names.rankfile.empty() && names.launcher == Launcher::hydra) {
    throw UserError("--rankfile: mpiexec of " + MpiEnvironment::mpi_version() +
                    " takes no rank file; leave it out, the command that is printed places the ranks");
  }
  check_files(*values, names);
  auto request = to_request(*values, names);
  std::optional<ScheduleComparison> comparison;
  if ((*values)["simulate"].as<bool>()) {
    comparison = compare_schedules(*values, Plan(request), !(*values)["json"].as<bool>());
    request.simulated = comparison->best;
  }
  const Plan plan(request);
  if (!names.rankfile.empty()) write_rankfile(plan, names);
  print_plan(*values, plan, names, comparison);
  return network_of(plan).fits() ? kExitOk : kExitLosses;
}

}  // namespace eventloom
