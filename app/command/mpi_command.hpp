#pragma once

#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "app/command/same_setup.hpp"
#include "core/control/agreement.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/text_error.hpp"

/// How commands that run on many ranks begin and end. However one of them fails, all end within seconds: in an orderly
/// way after an error that they share (agree()), otherwise by MPI_Abort, with a line that names the rank and its host.
namespace eventloom {

/// Runs `work` inside MPI; returns its exit code, or that of the error it threw. A shared error is reported by one
/// rank, before MPI_Finalize lets any end: a launcher kills the others as soon as one exits with an error.
int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work);

/// Bad usage found before MPI has started: one line, and perhaps an excerpt below it. Returns the exit code.
int refuse(const std::string& command, const std::string& what, const std::string& excerpt = {});

/// `parse` returns the configuration, or nothing when there is nothing to run; `work` gets it inside MPI. `setup_of`:
/// its contents as "name = value" lines, which must be the same on all ranks.
template <class Config>
int run_inside_mpi(const std::string& command, const std::function<std::optional<Config>()>& parse,
                   const std::function<std::string(const Config&)>& setup_of,
                   const std::function<int(const Config&, const Communicator&)>& work) {
  std::optional<Config> config;
  try {
    config = parse();
  } catch (const TextError& e) {
    return refuse(command, e.what(), e.excerpt());
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
