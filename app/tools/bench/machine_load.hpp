#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/mpi/communicator.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Other processes' load on the hosts of a measurement: their CPU time since the construction of this object, minus
/// that of the ranks and of the programs that they have started and waited for. Host names of one kernel are one host.
/// Every rank has one.
class MachineLoad {
 public:
  /// Collective. Returns {"loaded": whether the figures cannot be trusted, "hosts": [{"host", "cores", "seconds",
  /// "others_cores" and "stolen_cores": cores that other processes and the hypervisor have used on average,
  /// "load_average": of a minute, ranks included}]}. Members are null where /proc says nothing.
  [[nodiscard]] Json report(const Communicator& communicator) const;

 private:
  /// Seconds of CPU time; negative: unknown.
  struct Used {
    double busy = -1;    ///< all processes of the host
    double stolen = -1;  ///< taken by the hypervisor
    double own = 0;      ///< this process and its children
  };
  static Used used_now();

  Used begin_ = used_now();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How a load_warning() begins.
inline constexpr std::string_view kLoadWarning = "these figures cannot be trusted";

/// A line about each loaded host in a MachineLoad::report(); empty if there is none.
std::string load_warning(const Json& report);

}  // namespace eventloom
