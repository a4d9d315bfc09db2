#pragma once

#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/same_setup.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"

/// How commands that run on many ranks begin and end. However one of them fails, all end within seconds: with an error
/// that they share (agree()) in good order, otherwise by MPI_Abort, with a line that names the rank and its host.
namespace eventloom {

/// What a rank does, as an Activity, while others work for all of them.
inline constexpr const char* kWaitingForRanks = "waiting for the other ranks";

/// An error of the program on one rank that all ranks know of: "rank 1 on n1: ...".
class SharedError : public std::runtime_error {
 public:
  SharedError(const std::string& what, bool no_memory) : std::runtime_error(what), no_memory_(no_memory) {}
  [[nodiscard]] bool no_memory() const { return no_memory_; }

 private:
  bool no_memory_;
};

/// Collective. Runs `work` on this rank; when it throws anything on any rank, all ranks throw that of the lowest: as
/// UserError what the user can mend, as SharedError the rest.
void agree(const Collective& ranks, const std::function<void()>& work);

/// Collective: waits until all ranks are here, sharing the cores with those that still work.
void meet(const Collective& ranks);

/// Runs `work` inside MPI; returns its exit code, or that of the error that it threw. An error that all ranks share is
/// said by one of them, before MPI_Finalize lets any end: a launcher kills the others as soon as one ends with an
/// error.
int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work);

/// Bad usage that is found before MPI has started: one line. Returns the exit code.
int refuse(const std::string& command, const std::string& what);

/// `parse` gives the configuration, or nothing when there is nothing to run; `work` gets it inside MPI. `setup_of`: all
/// that it says, as "name = value" lines, which must be the same on all ranks.
template <class Config>
int run_inside_mpi(const std::string& command, const std::function<std::optional<Config>()>& parse,
                   const std::function<std::string(const Config&)>& setup_of,
                   const std::function<int(const Config&, const Communicator&)>& work) {
  std::optional<Config> config;
  try {
    config = parse();
  } catch (const UserError& e) {
    return refuse(command, e.what());
  }
  if (!config && !launched()) return kExitOk;
  return with_mpi(command, [&](const Communicator& communicator) {
    share_refusal(communicator, "");
    require_same_setup(communicator,
                       program_line() + "the command = " + command + "\n" + (config ? setup_of(*config) : ""));
    return config ? work(*config, communicator) : kExitOk;
  });
}

}  // namespace eventloom
