#include "app/tools/bench/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "app/document/json_message.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

// The kernel counts CPU time in ticks of 10 ms, so that short measurements need a margin in seconds.
constexpr double kOthersCores = 0.1;
constexpr double kStolenCores = 0.02;
constexpr double kMarginSeconds = 0.05;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// CPU time of this process and of the children that it has waited for.
double own_seconds() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  return in_seconds(time_of(CLOCK_PROCESS_CPUTIME_ID)) + seconds_of(children.ru_utime) + seconds_of(children.ru_stime);
}

Json load_average() {
  std::ifstream file("/proc/loadavg");
  double of_a_minute = 0;
  return file >> of_a_minute ? Json(of_a_minute) : Json();
}

Json per_second(double cpu, double seconds) {
  return cpu < 0 || seconds <= 0 ? Json() : Json(std::max(cpu, 0.0) / seconds);
}

bool exceeds(double cpu, double seconds, double cores) { return cpu > cores * seconds + kMarginSeconds; }

}  // namespace

MachineLoad::Used MachineLoad::used_now() {
  Used used;
  used.own = own_seconds();
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double waiting = 0;
  double interrupts = 0;
  double soft_interrupts = 0;
  double stolen = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
  if (!file || name != "cpu") return used;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  // Interrupts are left out: they serve the ranks' own network, too.
  used.busy = (user + nice + system) / ticks;
  used.stolen = stolen / ticks;
  return used;
}

Json MachineLoad::report(const Communicator& communicator) const {
  const auto now = used_now();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const bool known = begin_.busy >= 0 && now.busy >= 0;
  const auto kernel = kernel_id();
  const Json mine = {{"host", host_name()},
                     {"machine", kernel.empty() ? host_name() : kernel},
                     {"own", now.own - begin_.own},
                     {"busy", known ? now.busy - begin_.busy : -1},
                     {"stolen", known ? now.stolen - begin_.stolen : -1},
                     {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
                     {"load_average", load_average()}};
  std::map<std::string, double> own;
  const auto ranks = all_gather_json(communicator, mine);
  for (const auto& rank : ranks) own[rank["machine"]] += rank["own"].get<double>();
  Json hosts = Json::array();
  bool loaded = false;
  for (const auto& rank : ranks) {
    const auto found = own.find(rank["machine"].get<std::string>());
    if (found == own.end()) continue;  // the machine's first rank has already reported
    const double busy = rank["busy"];
    const double others = busy < 0 ? -1 : std::max(busy - found->second, 0.0);
    const double stolen = rank["stolen"];
    const bool here = exceeds(others, seconds, kOthersCores) || exceeds(stolen, seconds, kStolenCores);
    loaded = loaded || here;
    hosts.push_back({{"host", rank["host"]},
                     {"cores", rank["cores"]},
                     {"seconds", seconds},
                     {"others_cores", per_second(others, seconds)},
                     {"stolen_cores", per_second(stolen, seconds)},
                     {"load_average", rank["load_average"]},
                     {"loaded", here}});
    own.erase(found);
  }
  return {{"loaded", loaded}, {"hosts", hosts}};
}

std::string load_warning(const Json& report) {
  std::string text;
  for (const auto& host : report.at("hosts")) {
    if (!host.at("loaded").get<bool>()) continue;
    text += fmt::format("{}on {} other processes used {:.2f} cores and the hypervisor {:.2f}", text.empty() ? "" : "; ",
                        host.at("host").get<std::string>(), host.at("others_cores").get<double>(),
                        host.at("stolen_cores").get<double>());
  }
  if (text.empty()) return text;
  return fmt::format("{}: while they were measured, {}. Measure again on an idle machine", kLoadWarning, text);
}

}  // namespace eventloom
