#include "core/mpi/environment.hpp"

#include <mpi.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

void choose_ucx() {
  // Byte transfer layers serve other components. Those for shared memory leave files behind if the launcher is killed.
  const bool users_own = std::getenv("OMPI_MCA_pml") != nullptr || std::getenv("OMPI_MCA_osc") != nullptr;
  if (!users_own) setenv("OMPI_MCA_btl", "self", 0);
  // A program without a launcher needs no daemon, which takes longer to start than MPI, and no session directory, which
  // all programs without a daemon would share.
  if (!users_own && !launched()) {
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

/// UCX 1.18 over TCP often crashes in uct_tcp_ep_progress_put_rx when several ranks put large data to each other; 1.13
/// does not, versions in between were not tried. Without its puts over TCP it sends them as messages.
void avoid_puts_over_tcp() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  if (std::pair(major, minor) > std::pair(1U, 13U)) setenv("UCX_TCP_PUT_ENABLE", "n", 0);
}

/// While searching for the GPUs of X displays, hwloc (used by MPI) connects to TCP ports 6000 to 6009, which MBS
/// servers use, and would take their first events.
void leave_displays_alone() { setenv("HWLOC_COMPONENTS", "-gl", 0); }

std::string control_variable(const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return "";
  MPI_T_cvar_handle handle;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return "";
  std::string value(static_cast<std::size_t>(count) + 1, '\0');
  if (MPI_T_cvar_read(handle, value.data()) != MPI_SUCCESS) value.clear();
  MPI_T_cvar_handle_free(&handle);
  value.resize(std::strlen(value.c_str()));
  return value;
}

/// Transports that UCX could use on this host, from UCX's query of components and devices.
std::set<std::string> usable_transports() {
  std::set<std::string> names;
  uct_component_h* components = nullptr;
  unsigned n_components = 0;
  if (uct_query_components(&components, &n_components) != UCS_OK) return names;
  for (unsigned c = 0; c < n_components; ++c) {
    uct_component_attr_t attr;
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    if (uct_component_query(components[c], &attr) == UCS_OK && attr.md_resource_count > 0) names.insert(attr.name);
  }
  uct_release_component_list(components);
  return names;
}

/// Reserved for departing ranks: any other operation in flight on it would be mistaken for an answer.
MPI_Comm of_departure = MPI_COMM_NULL;

bool mpi_is_open = false;

}  // namespace

MpiEnvironment::MpiEnvironment() {
  choose_ucx();
  avoid_puts_over_tcp();
  leave_displays_alone();
  mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &thread_level_), "MPI_Init_thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto what = "MPI_Comm_dup at rank " + std::to_string(rank()) + " on " + host_name();
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &of_departure), what.c_str());
  int of_tools = 0;
  mpi_check(MPI_T_init_thread(MPI_THREAD_SINGLE, &of_tools), "MPI_T_init_thread");
  mpi_is_open = true;
}

MpiEnvironment::~MpiEnvironment() {
  mpi_is_open = false;
  if (leaves_alone()) return;
  MPI_Comm_free(&of_departure);
  MPI_T_finalize();
  MPI_Finalize();
}

bool MpiEnvironment::is_open() { return mpi_is_open; }

std::string MpiEnvironment::trouble() const {
  if (thread_level_ >= MPI_THREAD_FUNNELED) return "";
  return "this MPI allows no threads beside the one that calls it (MPI_THREAD_SINGLE; eventloom needs "
         "MPI_THREAD_FUNNELED): use an MPI that was built with threads";
}

int MpiEnvironment::rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int MpiEnvironment::size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool MpiEnvironment::all_come_here(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  if (MPI_Ibarrier(of_departure, &request) != MPI_SUCCESS) return false;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

std::vector<std::string> MpiEnvironment::gather(const std::string& text) {
  constexpr std::size_t kMost = 4096;
  std::string mine(text, 0, kMost - 1);
  mine.resize(kMost);
  std::string all(rank() == 0 ? kMost * static_cast<std::size_t>(size()) : 0, '\0');
  const int n = static_cast<int>(kMost);
  if (MPI_Gather(mine.data(), n, MPI_CHAR, all.data(), n, MPI_CHAR, 0, of_departure) != MPI_SUCCESS) return {text};
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += kMost) texts.emplace_back(all.c_str() + at);
  return texts;
}

void MpiEnvironment::abort(int code) {
  // If MPI_Abort itself hangs, the system ends this process, and the launcher ends the others.
  constexpr unsigned kSecondsToAbort = 4;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsToAbort);
  mpi_is_open = false;
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

std::string MpiEnvironment::mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

std::string MpiEnvironment::ucx_version() { return ucp_get_version_string(); }

ExchangeBackend exchange_backend() {
  ExchangeBackend backend;
  backend.pml = control_variable("pml");
  backend.osc = control_variable("osc");
  // If a single component is named, MPI_Win_allocate must have used it: it fails otherwise.
  backend.is_ucx = backend.osc == "ucx";
  if (const char* tls = std::getenv("UCX_TLS"); tls != nullptr) {
    backend.transports = tls;
  } else {
    for (const auto& name : usable_transports()) backend.transports += (backend.transports.empty() ? "" : ",") + name;
  }
  return backend;
}

bool launched() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr; }

}  // namespace eventloom
