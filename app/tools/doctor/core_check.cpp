#include "app/tools/doctor/core_check.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr const char* kCores = "cores";
constexpr const char* kLoad = "load";

std::string launch(std::size_t ranks, bool srun) {
  if (srun) return fmt::format("srun -n {} --cpu-bind=cores eventloom run ...", ranks);
  return fmt::format("mpirun -np {} --bind-to core eventloom run ...", ranks);
}

std::size_t ranks_with_cores(const std::vector<HostPlaces>& hosts) {
  std::size_t ranks = 0;
  for (const auto& host : hosts) ranks += host.ranks.size() - host.without_core;
  return ranks;
}

Finding crowded(const HostPlaces& host, std::size_t ranks, bool srun) {
  Finding finding{.subject = kCores, .level = FindingLevel::warning, .what = crowding({host})};
  finding.meaning =
      "ranks that wait yield to each other, which costs some speed; beside a program that never yields, throughput "
      "falls a thousandfold";
  finding.fix = launch(ranks, srun);
  finding.hosts = {host.host};
  return finding;
}

}  // namespace

std::vector<Finding> check_cores(const std::vector<RankPlace>& places, bool srun) {
  std::vector<Finding> findings;
  const auto hosts = hosts_of(places);
  for (const auto& host : hosts) {
    const auto bound = std::ranges::all_of(
        host.ranks, [&](int rank) { return places[static_cast<std::size_t>(rank)].cores.size() == 1; });
    Finding finding{.subject = kCores, .what = "each rank has a core to itself", .hosts = {host.host}};
    if (host.without_core > 0) {
      finding = crowded(host, ranks_with_cores(hosts), srun);
    } else if (places.size() > 1 && !bound) {
      finding.level = FindingLevel::note;
      finding.what = "enough cores, but not every rank is bound to one";
      finding.meaning = "the system moves ranks between cores, which costs what they hold in their caches";
      finding.fix = launch(places.size(), srun);
    }
    findings.push_back(finding);
  }
  return findings;
}

std::vector<Finding> check_load(std::size_t ranks, std::size_t cpus, const std::filesystem::path& root) {
  constexpr double kNegligible = 0.5;
  std::ifstream in(root / "proc/loadavg");
  double load = 0;
  if (!(in >> load)) return {{.subject = kLoad, .level = FindingLevel::note, .what = "unknown: no /proc/loadavg"}};
  Finding finding{.subject = kLoad,
                  .what = fmt::format("{{}} on {} cpus, average of the last minute", cpus),
                  .measured = Measured{load, load, "processes"}};
  if (load + static_cast<double>(ranks) <= static_cast<double>(cpus) + kNegligible) return {finding};
  finding.level = FindingLevel::warning;
  finding.meaning = fmt::format("too few for {} rank{} as well: a rank stands still while another program has its core",
                                ranks, ranks == 1 ? "" : "s");
  finding.fix = "top -b -n 1 -o %CPU | head -15; under Slurm: sbatch --exclusive";
  return {finding};
}

}  // namespace eventloom
