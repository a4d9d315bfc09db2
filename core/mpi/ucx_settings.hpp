#pragma once

#include <string_view>

/// Variables that this program sets for Open MPI and UCX before MPI_Init. None overwrites a value of the user's.
namespace eventloom {

/// Requests the UCX exchange over any of its transports. Call it before MPI loads its components. `launched`: by a
/// launcher.
void choose_ucx(bool launched);

/// Lets the ranks of a host exchange through System V memory, which is not in /dev/shm; call it before MPI starts, in
/// all ranks. Returns false where MPI does not exchange so, or the user has chosen the transports.
bool avoid_named_memory();

/// Whether UCX_TLS leaves UCX a transport: posix, sysv, cma or tcp. A leading "^" excludes the transports that it
/// names; some names stand for several: all, sm and shm (memory of a host), mm (mapped memory).
bool ucx_may_use(std::string_view transport);

/// Adapts UCX to its version and to this process; call it when MPI has loaded UCX and not yet initialised it.
void adjust_ucx();

/// Whether this process has a user or process namespace of its own, as in a rootless container, into which processes
/// outside cannot look.
bool in_own_namespaces();

}  // namespace eventloom
