#include "app/command/mpi_command.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "app/command/launcher.hpp"
#include "app/command/safe_text.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

/// Time for all ranks to encounter the same error independently.
constexpr auto kForAllToFail = std::chrono::milliseconds(500);

/// "rank 1 on n1: ", if there are several ranks. Queried once, because errors occur on any thread but MPI belongs to
/// the main thread.
std::string this_rank;

/// Writes the message in one piece, so that lines of several ranks do not mix. `excerpt`: complete lines to print below
/// it; may be empty.
void say(const std::string& command, const std::string& text, const std::string& excerpt = {}) {
  const auto below = excerpt.empty() ? "" : lines_for_terminal(excerpt) + "\n";
  std::cerr << "eventloom " + command + ": " + for_terminal(text) + "\n" + below << std::flush;
}

std::string advice(const Failure& failure, const std::string& command) {
  if (!failure.no_memory || command != "run") return "";
  return "; reduce --slices-in-flight, --epochs-per-slice, --ring-depth or --cell-size, or use more hosts";
}

/// Called when all ranks encountered errors at the same time: rank 0 reports each distinct error once, with the first
/// rank that encountered it. An error that all ranks share, because they have the same options, is not attributed.
void say_all(const std::string& command, const std::string& mine, bool of_all) {
  std::map<std::string, std::string> met;
  for (const auto& one : MpiEnvironment::gather(this_rank + '\n' + mine)) {
    const auto cut = one.find('\n');
    met.emplace(one.substr(cut + 1), one.substr(0, cut));
  }
  for (const auto& [text, rank] : met) say(command, (of_all && met.size() == 1 ? "" : rank) + text);
}

/// Handles an exception that unwound this rank. Returns the exit code, or ends all ranks if the others continue.
int end_of_work(const std::string& command, const Failure& failure) {
  const auto text = failure.text + advice(failure, command);
  const bool together = left_together() || MpiEnvironment::all_come_here(kForAllToFail);
  if (!together) {
    if (!failure.reported) say(command, this_rank + text, failure.excerpt);
  } else if (!left_together()) {
    say_all(command, text, failure.code == kExitUsage);
  } else if (MpiEnvironment::rank() == 0) {
    say(command, text, failure.excerpt);
  }
  int code = failure.code;
  if (together) {
    code = agreed_code(MpiEnvironment::gather_codes(code));
  } else if (MpiEnvironment::launcher_combines_codes()) {
    code = code_to_combine(code);
  }
  if (!together || left_something()) MpiEnvironment::abort(code);
  return code;
}

/// Reports the error and exits when std::terminate() is called because an exception cannot be caught, in a thread
/// or a destructor.
std::string name_of_command;
std::thread::id main_thread;

[[noreturn]] void terminate() {
  const auto error = std::current_exception();
  const auto failure = error ? Failure::of(error) : Failure{kExitProgram, "error of the program: std::terminate"};
  say(name_of_command, this_rank + failure.text + advice(failure, name_of_command));
  // MPI belongs to the main thread. Launchers end all ranks when one exits with an error.
  if (std::this_thread::get_id() == main_thread) MpiEnvironment::abort(kExitProgram);
  std::_Exit(kExitProgram);
}

/// Passed to std::atexit: HDF5 calls exit() silently if malloc fails (1.10.8, seen in H5I_register).
void report_unexpected_exit() {
  if (!MpiEnvironment::is_open()) return;
  const Failure failure{kExitProgram, "a library has ended the process, most likely out of memory", true};
  say(name_of_command, this_rank + failure.text + advice(failure, name_of_command));
  std::_Exit(failure.code);
}

}  // namespace

int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work) {
  name_of_command = command;
  main_thread = std::this_thread::get_id();
  const MpiEnvironment environment;
  this_rank = name_of_rank(MpiEnvironment::rank(), MpiEnvironment::size());
  std::set_terminate(terminate);
  std::atexit(report_unexpected_exit);
  if (const auto mismatch = launcher_mismatch(ProcessPlace::of_this(), MpiEnvironment::size());
      !mismatch.what.empty()) {
    if (mismatch.speaks) say(command, mismatch.what);
    return kExitUsage;
  }
  try {
    const Communicator communicator;
    agree(communicator, [&] {
      if (const auto trouble = environment.trouble(); !trouble.empty()) throw UserError(trouble);
    });
    return agreed_code(communicator.all_gather(work(communicator)));
  } catch (const SharedError& e) {
    return end_of_work(command, {kExitProgram, e.what(), e.no_memory()});
  } catch (...) {
    return end_of_work(command, Failure::of(std::current_exception()));
  }
}

int refuse(const std::string& command, const std::string& what, const std::string& excerpt) {
  if (!launched()) throw TextError(what, excerpt);
  return with_mpi(command, [&](const Communicator& communicator) -> int {
    share_refusal(communicator, what, excerpt);
    throw TextError(what, excerpt);
  });
}

}  // namespace eventloom
