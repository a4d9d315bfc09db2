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

/// Start and end of commands that run on many ranks. However one rank fails, all end within seconds: in an orderly way
/// after a shared error (agree()), otherwise by MPI_Abort, with a line that names the rank and its host.
namespace eventloom {

/// Runs `work` inside MPI and returns its exit code, or that of the error it threw. One rank reports a shared error
/// before MPI_Finalize lets any rank end: a launcher kills the others as soon as one exits with an error.
int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work);

/// Reports bad usage that was found before MPI started: one line, and optionally an excerpt below it.
/// Returns the exit code.
int refuse(const std::string& command, const std::string& what, const std::string& excerpt = {});

/// `parse` returns the configuration, or std::nullopt if there is nothing to run; `work` receives it inside MPI.
/// `setup_of` returns its contents as "name = value" lines, which must be identical on all ranks.
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
