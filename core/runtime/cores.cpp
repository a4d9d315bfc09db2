#include "core/runtime/cores.hpp"

#include <sched.h>

#include <fstream>
#include <map>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

std::string core_of(int cpu, const std::filesystem::path& root) {
  const auto name = std::to_string(cpu);
  std::ifstream siblings(root / "sys/devices/system/cpu" / ("cpu" + name) / "topology/thread_siblings_list");
  std::string threads;
  return std::getline(siblings, threads) ? threads : name;
}

using Processes = std::vector<std::set<std::string>>;

/// Assigns cores to processes. A matching grown by augmenting paths is a maximum matching.
class Assignment {
 public:
  explicit Assignment(const Processes& processes) : processes_(processes) {}

  bool place(std::size_t process) {
    tried_.clear();
    return find_core(process);
  }

  [[nodiscard]] const std::map<std::string, std::size_t>& owners() const { return owners_; }

 private:
  bool find_core(std::size_t process) {
    for (const auto& core : processes_[process]) {
      if (!tried_.insert(core).second) continue;
      const auto owner = owners_.find(core);
      if (owner != owners_.end() && !find_core(owner->second)) continue;
      owners_[core] = process;
      return true;
    }
    return false;
  }

  const Processes& processes_;
  std::map<std::string, std::size_t> owners_;
  std::set<std::string> tried_;
};

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::set<std::string> cores_of(const std::vector<int>& cpus, const std::filesystem::path& root) {
  std::set<std::string> cores;
  for (const int cpu : cpus) cores.insert(core_of(cpu, root));
  return cores;
}

std::vector<int> cpus_of(const std::string& core, const std::vector<int>& cpus, const std::filesystem::path& root) {
  std::vector<int> found;
  for (const int cpu : cpus) {
    if (core_of(cpu, root) == core) found.push_back(cpu);
  }
  return found;
}

std::string ranges_of(const std::vector<int>& rising) {
  std::string out;
  for (std::size_t i = 0; i < rising.size();) {
    std::size_t last = i;
    while (last + 1 < rising.size() && rising[last + 1] == rising[last] + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", rising[i]);
    if (last != i) out += fmt::format("-{}", rising[last]);
    i = last + 1;
  }
  return out;
}

std::vector<std::string> core_of_each(const Processes& processes) {
  Assignment assignment(processes);
  for (std::size_t p = 0; p < processes.size(); ++p) assignment.place(p);
  std::vector<std::string> cores(processes.size());
  for (const auto& [core, process] : assignment.owners()) cores[process] = core;
  return cores;
}

std::size_t without_core(const Processes& processes) {
  const auto cores = core_of_each(processes);
  std::size_t without = 0;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    if (!processes[p].empty() && cores[p].empty()) ++without;
  }
  return without;
}

}  // namespace eventloom
