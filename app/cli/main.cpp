#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cli/commands.hpp"
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

namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, const char* const* argv);
  bool parallel = false;  ///< true: the ranks share the work; false: runs as one process
};

constexpr std::array kCommands = {
    Command{"run", "build events from sources", eventloom::run_command, true},
    Command{"generate", "write recorded streams with known events", eventloom::generate_command},
    Command{"convert", "any input to .epochs", eventloom::convert_command},
    Command{"inspect", "show the contents of an .epochs or an output file", eventloom::inspect_command},
    Command{"hist", "the histograms of a run, as text, table, JSON or picture", eventloom::hist_command},
    Command{"merge", "part files of a run to one plain HDF5 file", eventloom::merge_command},
    Command{"report", "one self-contained HTML page with the plots of a run", eventloom::report_command},
    Command{"show", "an event, or the contents of a run, on the terminal or as SVG", eventloom::show_command},
    Command{"compare", "which events and hits of two runs differ", eventloom::compare_command},
    Command{"align", "time offsets of channels or sources from coincident hits", eventloom::align_command},
    Command{"send", "replay recorded streams to live receivers, over UDP", eventloom::send_command},
    Command{"serve", "an MBS server of recorded list-mode data", eventloom::serve_command},
    Command{"record", "write what live sources send as files that a run can follow", eventloom::record_command},
    Command{"control", "pause, resume or stop a monitored run", eventloom::control_command},
    Command{"top", "watch a monitored run, once a second", eventloom::top_command},
    Command{"plan", "propose roles, rank file, rings and memory for a cluster", eventloom::plan_command},
    Command{"simulate", "the same schedules and roles over a simulated network", eventloom::simulate_command},
    Command{"doctor", "check the hosts of a run for problems and suggest fixes", eventloom::doctor_command, true},
    Command{"bench", "measure the exchange: patterns, latency, rate, scan, sources", eventloom::bench_command, true},
};

void print_usage(std::ostream& out) {
  out << "usage: eventloom <command> [options]\n\n";
  for (const auto& command : kCommands) {
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary << '\n';
  }
  out << "\n'eventloom <command> --help' shows the options with units and defaults.\n";
}

/// A launcher ends all processes as soon as one exits with an error.
constexpr auto kForOneToSpeak = std::chrono::seconds(1);

/// Several processes would write the same files. All refuse; one of them reports it.
int refuse_many(std::string_view name, const eventloom::LauncherMismatch& mismatch) {
  if (!mismatch.speaks) {
    std::this_thread::sleep_for(kForOneToSpeak);
    return eventloom::kExitUsage;
  }
  std::cerr
      << "eventloom " << name
      << ": this command runs as one process, but several were started; start it without mpirun or srun, or as one "
         "task\n";
  return eventloom::kExitUsage;
}

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

void print_version(std::ostream& out) {
  using eventloom::MpiEnvironment;
  const std::string commit = eventloom::kCommit;
  const std::string tag = eventloom::kTag;
  out << "eventloom " EVENTLOOM_VERSION << (commit.empty() ? "" : ", commit " + commit)
      << (tag.empty() ? "" : ", tag " + tag) << '\n'
      << kCompiler << "; " << MpiEnvironment::mpi_version() << "; UCX " << MpiEnvironment::ucx_version() << "; HDF5 "
      << eventloom::hdf5_version() << '\n';
}

int do_command(std::string_view name, int argc, char** argv) {
  eventloom::let_idle_threads_sleep(argv);
  eventloom::keep_memory_reserve();
  eventloom::keep_freed_memory();
  eventloom::setting_names() = eventloom::option_names();
  eventloom::set_up_log("eventloom", eventloom::for_terminal);
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(std::cout);
    return eventloom::kExitOk;
  }
  if (name == "--version") {
    print_version(std::cout);
    return eventloom::kExitOk;
  }
  for (const auto& command : kCommands) {
    if (command.name != name) continue;
    const auto many = eventloom::launcher_mismatch(eventloom::ProcessPlace::of_this(), 1);
    if (!command.parallel && !many.what.empty()) return refuse_many(name, many);
    return command.run(argc - 1, argv + 1);
  }
  std::vector<std::string_view> names;
  for (const auto& command : kCommands) names.push_back(command.name);
  std::cerr << "eventloom: "
            << (name.empty()
                    ? "no command given"
                    : "unknown command '" + eventloom::for_terminal(name) + "'" + eventloom::did_you_mean(name, names))
            << "; usage: eventloom <command> [options], 'eventloom --help' lists the commands\n";
  return eventloom::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  try {
    return do_command(name, argc, argv);
  } catch (...) {
    const auto failure = eventloom::Failure::of(std::current_exception());
    std::cerr << "eventloom " << name << ": " << eventloom::for_terminal(failure.text) << '\n';
    if (!failure.excerpt.empty()) std::cerr << eventloom::lines_for_terminal(failure.excerpt) << '\n';
    return failure.code;
  }
}
