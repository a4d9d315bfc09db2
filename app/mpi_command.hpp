#pragma once

#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"

/// How commands that run on many ranks begin and end.
namespace eventloom {

/// What a rank does, as an Activity, while others work for all of them.
inline constexpr const char* kWaitingForRanks = "waiting for the other ranks";

/// Collective. Runs `work` on this rank; when it throws UserError on any rank, all ranks throw the
/// one of the lowest.
void agree(const Communicator& communicator, const std::function<void()>& work);

/// Collective: whether `mine` is true on any rank.
bool any_of_ranks(const Communicator& communicator, bool mine);

/// Collective: waits until all ranks are here, sharing the cores with those that still work.
void meet(const Communicator& communicator);

/// Runs `work` inside MPI. An error that all ranks share is said by one of them, before MPI_Finalize
/// lets any end: a launcher kills the others as soon as one ends with an error.
int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work);

/// Bad usage that every rank finds before MPI has started: one line from one rank. Returns the exit code.
int refuse(const std::string& command, const std::string& what);

/// `parse` gives the configuration, or nothing when there is nothing to run; `work` gets it inside MPI.
template <class Config>
int run_inside_mpi(const std::string& command, const std::function<std::optional<Config>()>& parse,
                   const std::function<int(const Config&, const Communicator&)>& work) {
  std::optional<Config> config;
  try {
    config = parse();
  } catch (const UserError& e) {
    return refuse(command, e.what());
  }
  if (!config) return kExitOk;
  return with_mpi(command, [&](const Communicator& communicator) { return work(*config, communicator); });
}

}  // namespace eventloom
