#include "core/mpi/exchange_backend.hpp"

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/mpi/loaded_ucx.hpp"

namespace eventloom {

namespace {

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

bool names_ucx(const std::string& list) { return list.find("ucx") != std::string::npos; }

/// Returns UCX_TLS, where "^posix" excludes, or all transports of this host.
std::string transports() {
  const char* const tls = std::getenv("UCX_TLS");
  if (tls != nullptr) return *tls == '^' ? std::string("all but ") + (tls + 1) : tls;
  std::string list;
  for (const auto& name : loaded_ucx_transports()) list += (list.empty() ? "" : ",") + name;
  return list;
}

/// The network of MPICH: its first one, unless the user chose another. Its version says "MPICH Device: ch4:ucx ofi".
std::string network_of_mpich(const std::string& version) {
  if (const char* chosen = std::getenv("MPIR_CVAR_CH4_NETMOD"); chosen != nullptr && *chosen != '\0') return chosen;
  constexpr std::string_view kDevice = "ch4:";
  const auto at = version.find(kDevice);
  if (at == std::string::npos) return "a network";
  const auto begin = at + kDevice.size();
  return version.substr(begin, version.find_first_of(" ,\n", begin) - begin);
}

ExchangeBackend of_mpich(const std::string& version) {
  ExchangeBackend backend;
  const auto network = network_of_mpich(version);
  backend.is_ucx = network == "ucx";
  if (backend.is_ucx) backend.transports = transports();
  backend.others =
      network_within_host() ? network : "MPICH's shared memory within a host, " + network + " between hosts";
  return backend;
}

ExchangeBackend of_intel_mpi() {
  ExchangeBackend backend;
  backend.others =
      network_within_host() ? "libfabric" : "Intel MPI's shared memory within a host, libfabric between hosts";
  return backend;
}

}  // namespace

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

MpiLibrary mpi_library() {
  const auto version = library_version();
  if (version.starts_with("Open MPI")) return MpiLibrary::open_mpi;
  if (version.starts_with("Intel(R) MPI")) return MpiLibrary::intel;
  return version.starts_with("MPICH") ? MpiLibrary::mpich : MpiLibrary::another;
}

ExchangeBackend exchange_backend() {
  switch (mpi_library()) {
    case MpiLibrary::mpich: return of_mpich(library_version());
    case MpiLibrary::intel: return of_intel_mpi();
    default: break;
  }
  ExchangeBackend backend;
  backend.pml = control_variable("pml");
  backend.osc = control_variable("osc");
  // If a single component is named, MPI_Win_allocate must have used it: it fails otherwise.
  backend.is_ucx = backend.osc == "ucx";
  if (backend.is_ucx || names_ucx(backend.pml)) backend.transports = transports();
  return backend;
}

std::string exchange_text(const ExchangeBackend& backend) {
  std::string text = backend.others;
  if (!backend.osc.empty()) text = "osc " + backend.osc + ", pml " + backend.pml;
  if (text.empty()) text = "as this MPI chooses, which it does not say";
  return text + (backend.transports.empty() ? "" : ", UCX transports " + backend.transports);
}

bool network_within_host() {
  const char* const fabrics = std::getenv("I_MPI_FABRICS");
  const char* const no_local = std::getenv("MPIR_CVAR_NOLOCAL");
  return (fabrics != nullptr && std::strstr(fabrics, "shm") == nullptr) ||
         (no_local != nullptr && std::string_view(no_local) != "0");
}

bool windows_fill_shared_memory() {
  const auto library = mpi_library();
  return library == MpiLibrary::mpich || library == MpiLibrary::intel;
}

}  // namespace eventloom
