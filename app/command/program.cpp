#include "app/command/program.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/command/commit.hpp"
#include "app/command/launcher.hpp"
#include "app/command/safe_text.hpp"
#include "app/command/setting_names.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/allocator.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/memory_reserve.hpp"
#include "core/runtime/threads.hpp"
#include "io/hdf5/hdf5_version.hpp"

namespace eventloom {

namespace {

void print_usage(std::ostream& out, std::span<const NamedCommand> commands) {
  out << "usage: eventloom <command> [options]\n\n";
  for (const auto& command : commands) {
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary << '\n';
  }
  out << "\n'eventloom <command> --help' shows the options with units and defaults.\n";
}

/// A launcher ends all processes as soon as one exits with an error.
constexpr auto kForOneToSpeak = std::chrono::seconds(1);

/// Several processes would write the same files. All refuse; one of them reports it.
int refuse_many(std::string_view name, const LauncherMismatch& mismatch) {
  if (!mismatch.speaks) {
    std::this_thread::sleep_for(kForOneToSpeak);
    return kExitUsage;
  }
  std::cerr
      << "eventloom " << name
      << ": this command runs as one process, but several were started; start it without mpirun or srun, or as one "
         "task\n";
  return kExitUsage;
}

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

void print_version(std::ostream& out) {
  const std::string commit = kCommit;
  const std::string tag = kTag;
  out << "eventloom " EVENTLOOM_VERSION << (commit.empty() ? "" : ", commit " + commit)
      << (tag.empty() ? "" : ", tag " + tag) << '\n'
      << kCompiler << "; " << MpiEnvironment::mpi_version() << "; UCX " << MpiEnvironment::ucx_version() << "; HDF5 "
      << hdf5_version() << '\n';
}

int do_command(std::string_view name, std::span<const NamedCommand> commands, int argc, char** argv) {
  let_idle_threads_sleep(argv);
  keep_memory_reserve();
  keep_freed_memory();
  setting_names() = option_names();
  set_up_log("eventloom", for_terminal);
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(std::cout, commands);
    return kExitOk;
  }
  if (name == "--version") {
    print_version(std::cout);
    return kExitOk;
  }
  for (const auto& command : commands) {
    if (command.name != name) continue;
    const auto many = launcher_mismatch(ProcessPlace::of_this(), 1);
    if (!command.parallel && !many.what.empty()) return refuse_many(name, many);
    return command.run(argc - 1, argv + 1);
  }
  std::vector<std::string_view> names;
  for (const auto& command : commands) names.push_back(command.name);
  std::cerr << "eventloom: "
            << (name.empty() ? "no command given"
                             : "unknown command '" + for_terminal(name) + "'" + did_you_mean(name, names))
            << "; usage: eventloom <command> [options], 'eventloom --help' lists the commands\n";
  return kExitUsage;
}

}  // namespace

int run_program(std::span<const NamedCommand> commands, int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  try {
    return do_command(name, commands, argc, argv);
  } catch (...) {
    const auto failure = Failure::of(std::current_exception());
    std::cerr << "eventloom " << name << ": " << for_terminal(failure.text) << '\n';
    if (!failure.excerpt.empty()) std::cerr << lines_for_terminal(failure.excerpt) << '\n';
    return failure.code;
  }
}

}  // namespace eventloom
