#pragma once

#include <string>

namespace eventloom {

enum class MpiLibrary { open_mpi, mpich, intel, another };

/// Both may be called at any time. The text is that of MPI_Get_library_version(), of one or more lines.
std::string library_version();
MpiLibrary mpi_library();

/// The movers of the data, as reported by MPI and the environment.
struct ExchangeBackend {
  std::string pml;  ///< requested components of Open MPI, e.g. "ucx"; empty for another MPI
  std::string osc;
  std::string transports;   ///< UCX_TLS, or the transports that UCX finds on this host; empty without UCX
  bool is_ucx = false;      ///< between hosts
  std::string others = {};  ///< movers of another MPI, within a host and between hosts
};

/// Call it while MPI is open.
ExchangeBackend exchange_backend();

/// Example: "osc ucx, pml ucx, UCX transports cma,posix,self,sysv,tcp".
std::string exchange_text(const ExchangeBackend& backend);

/// Whether MPI takes the memory of windows from /dev/shm without asking for its space, as MPICH and Intel MPI do: a
/// process that touches what does not fit is killed.
bool windows_fill_shared_memory();

/// Whether the user has told MPICH or Intel MPI to use a network between ranks of one host, too.
bool network_within_host();

}  // namespace eventloom
