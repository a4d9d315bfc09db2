#include "core/mpi/ucx_settings.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "core/mpi/exchange_backend.hpp"
#include "core/mpi/loaded_ucx.hpp"

namespace eventloom {

namespace {

// UCX warns of each variable that belongs to a transport which it does not use.

/// UCX 1.18 over TCP often crashes in uct_tcp_ep_progress_put_rx when several ranks put large data to each other; 1.13
/// does not, versions in between were not tried. Without its puts over TCP it sends them as messages.
void avoid_puts_over_tcp(const UcxVersion& version) {
  constexpr UcxVersion kLastGood{1, 13};
  if (version > kLastGood && ucx_may_use("tcp")) setenv("UCX_TCP_PUT_ENABLE", "n", 0);
}

/// Since 1.16, UCX puts more than 4 KiB to ranks of the same host by a system call, process_vm_writev, instead of
/// copying them into the window, which is mapped: three to five times as slow. It compares assumed bandwidths: a low
/// one leaves the system call for memory that is not mapped.
void avoid_puts_by_system_calls(const UcxVersion& version) {
  constexpr UcxVersion kFirst{1, 16};
  const bool maps = ucx_may_use("posix") || ucx_may_use("sysv");
  if (version < kFirst || !maps || !ucx_may_use("cma") || !loaded_ucx_transports().contains("cma")) return;
  setenv("UCX_CMA_BW", "1MBs", 0);
}

/// UCX opens shared memory of another rank as /proc/PID/fd/N, which the system refuses where they are in different
/// user namespaces, and which is another process where they are in different process namespaces: UCX 1.13 crashes.
/// Otherwise it creates files with names, which stay in /dev/shm when a run is killed.
void avoid_links_in_proc() {
  if (in_own_namespaces() && ucx_may_use("posix")) setenv("UCX_POSIX_USE_PROC_LINK", "n", 0);
}

}  // namespace

void choose_ucx(bool launched) {
  // Byte transfer layers serve other components. Those for shared memory leave files behind if the launcher is killed.
  const bool users_own = std::getenv("OMPI_MCA_pml") != nullptr || std::getenv("OMPI_MCA_osc") != nullptr;
  if (!users_own) setenv("OMPI_MCA_btl", "self", 0);
  // A program without a launcher needs no daemon, which takes longer to start than MPI, and no session directory, which
  // all programs without a daemon would share.
  if (!users_own && !launched) {
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  }
  // The first two name the components, the others let them run without RDMA hardware, over shared memory and TCP.
  // setenv does not overwrite the user's settings.
  constexpr std::array<std::pair<const char*, const char*>, 4> kSettings = {
      {{"OMPI_MCA_pml", "ucx"},
       {"OMPI_MCA_osc", "ucx"},
       {"OMPI_MCA_opal_common_ucx_tls", "any"},
       {"OMPI_MCA_opal_common_ucx_devices", "any"}}};
  for (const auto& [name, value] : kSettings) setenv(name, value, 0);
}

bool avoid_named_memory() {
  if (mpi_library() != MpiLibrary::open_mpi || std::getenv("UCX_TLS") != nullptr) return false;
  return setenv("UCX_TLS", "^posix", 0) == 0;
}

bool ucx_may_use(std::string_view transport) {
  const char* const chosen = std::getenv("UCX_TLS");
  if (chosen == nullptr || *chosen == '\0') return true;
  const bool network = transport == "tcp";
  const bool maps = !network && transport != "cma";
  const bool excluded = *chosen == '^';
  std::istringstream in(excluded ? chosen + 1 : chosen);
  bool named = false;
  for (std::string name; std::getline(in, name, ',');) {
    named = named || name == transport || name == "all" || (!network && (name == "sm" || name == "shm")) ||
            (maps && name == "mm");
  }
  return named != excluded;
}

void adjust_ucx() {
  const auto version = loaded_ucx_version();
  if (version == UcxVersion{}) return;
  avoid_puts_over_tcp(version);
  avoid_puts_by_system_calls(version);
  avoid_links_in_proc();
}

bool in_own_namespaces() {
  // The number of the first user namespace is fixed (linux/nsfs.h).
  constexpr const char* kFirst = "user:[4026531837]";
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/user", error);
  return error || space != kFirst || getpid() == 1 || getppid() == 0;
}

}  // namespace eventloom
