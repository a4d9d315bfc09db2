#include "app/tools/plan/launch.hpp"

#include <charconv>

#include "app/command/shell_word.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

std::string run_command_line(const Plan& plan, const PlanNames& names) {
  std::string line = "eventloom run";
  if (names.sources.empty()) line += " --source URI";
  for (const auto& uri : names.sources) line += " --source " + shell_word(uri);
  return line + fmt::format(" --define DEF {} --output run.h5", joined(run_options(plan), " "));
}

std::uint32_t ranks_of_a_node(const Plan& plan) {
  const auto ranks = static_cast<std::uint32_t>(plan.placement.roles.ranks);
  return (ranks + plan.placement.nodes - 1) / plan.placement.nodes;
}

std::string size_word(std::uint64_t bytes) { return fmt::format("{}KiB", bytes / 1024); }

/// One process on each node, and so on in a circle.
std::string hydra_command(const Plan& plan, const PlanNames& names) {
  const auto hosts = names.hosts.empty() ? "" : " -hosts " + joined(names.hosts, ",");
  return fmt::format("mpiexec -n {} -ppn 1{} -bind-to core {}", plan.placement.roles.ranks, hosts,
                     run_command_line(plan, names));
}

}  // namespace

std::string node_name(const PlanNames& names, std::uint32_t node) {
  return names.hosts.empty() ? fmt::format("+n{}", node) : names.hosts[node];
}

std::string rankfile_text(const Plan& plan, const PlanNames& names) {
  std::string text = std::string(kRankfileHeader) + '\n';
  for (int rank = 0; rank < plan.placement.roles.ranks; ++rank) {
    text += fmt::format("rank {}={} slot={}\n", rank, node_name(names, plan.placement.node_of(rank)),
                        plan.placement.core_of(rank));
  }
  return text;
}

std::vector<std::string> run_options(const Plan& plan) {
  const auto& roles = plan.placement.roles;
  const auto& choice = plan.choice;
  std::vector<std::string> words = {"--builders", std::to_string(roles.builders)};
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  if (roles.filters != 0) add("--filters", std::to_string(roles.filters));
  add("--schedule", plan.placement.schedule);
  if (plan.slot_ns() != 0) add("--slot", fmt::format("{}ns", plan.slot_ns()));
  add("--epochs-per-slice", std::to_string(choice.epochs_per_slice));
  add("--ring-depth", std::to_string(choice.ring.depth));
  add("--cell-size", size_word(choice.ring.cell_size));
  add("--slices-in-flight", std::to_string(choice.slices_in_flight));
  const auto transfers = plan.request.transfers_in_flight;
  if (transfers != 0) add("--transfers-in-flight", std::to_string(transfers));
  return words;
}

Launcher launcher_of(std::string_view mpi_version) {
  constexpr std::string_view kName = "Open MPI v";
  constexpr int kFirstWithMappings = 5;
  if (!mpi_version.starts_with(kName)) return Launcher::hydra;
  mpi_version.remove_prefix(kName.size());
  int major = 0;
  std::from_chars(mpi_version.data(), mpi_version.data() + mpi_version.size(), major);
  return major >= kFirstWithMappings ? Launcher::open_mpi_5 : Launcher::open_mpi_4;
}

std::string mpirun_command(const Plan& plan, const PlanNames& names) {
  if (names.launcher == Launcher::hydra) return hydra_command(plan, names);
  std::string line = fmt::format("mpirun -np {}", plan.placement.roles.ranks);
  std::string redirection;
  if (!names.rankfile.empty() && names.launcher == Launcher::open_mpi_4) {
    line += " --rankfile " + shell_word(names.rankfile);
  } else if (names.rankfile.find_first_of("-,:") != std::string::npos) {
    // Open MPI 5 would take these characters for the beginning of another qualifier.
    line += " --map-by rankfile:file=/dev/fd/9";
    redirection = " 9<" + shell_word(names.rankfile);
  } else if (!names.rankfile.empty()) {
    line += " --map-by rankfile:file=" + shell_word(names.rankfile);
  } else {
    std::string hosts;
    for (const auto& host : names.hosts) {
      hosts += fmt::format("{}{}:{}", hosts.empty() ? " --host " : ",", host, ranks_of_a_node(plan));
    }
    line += hosts + " --map-by node --bind-to core";
  }
  return line + " " + run_command_line(plan, names) + redirection;
}

std::string srun_command(const Plan& plan, const PlanNames& names) {
  std::string line = fmt::format("srun --mpi={} --nodes={} --ntasks={} --ntasks-per-node={}",
                                 names.launcher == Launcher::hydra ? "pmi2" : "pmix", plan.placement.nodes,
                                 plan.placement.roles.ranks, ranks_of_a_node(plan));
  line += " --distribution=cyclic:block --cpu-bind=cores ";
  return line + run_command_line(plan, names);
}

}  // namespace eventloom
