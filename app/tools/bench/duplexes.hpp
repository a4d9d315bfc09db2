#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/bench/duplex.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Our own exchange, always measured: a ring in each direction.
inline constexpr const char* kRing = "ring";

/// The ways of this build that an option may name besides kRing: "put" (MPI_Put and MPI_Win_flush into memory that the
/// receiver polls, without notification or checksum: the floor of one-sided MPI, not a protocol), "mpi" (two-sided
/// messages), "zmq-ipc", "zmq-tcp", "udp" (datagrams over loopback) and "shm" (a plain ring in shared memory).
std::vector<std::string> duplex_names();
/// Returns kRing and the given names. Throws std::invalid_argument, which lists duplex_names(), for any other name.
std::vector<std::string> with_ring(const std::vector<std::string>& names);
/// The reason why `name` cannot join ranks of different hosts (`one_host` false) with messages of this size; empty if
/// it can.
std::string obstacle_to(std::string_view name, bool one_host, std::uint64_t message_bytes);
/// Collective. `name`: kRing or one of duplex_names(), with settings for which obstacle_to() is empty.
std::unique_ptr<Duplex> make_duplex(std::string_view name, const Communicator& communicator,
                                    const DuplexSettings& settings);

}  // namespace eventloom
