#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace eventloom {

/// `run --run-hook`: a user's program, called before and after each of several runs. It may start and stop the
/// acquisition of front ends.
struct RunHook {
  std::vector<std::string> words;      ///< the program and its arguments; empty: none
  std::chrono::nanoseconds timeout{};  ///< a call that takes longer is killed
};

/// Calls the program with two additional arguments, the number and `when` ("start" or "stop"), and waits for it.
/// EVENTLOOM_RUN (the run file) and EVENTLOOM_COMMENT are in its environment; its output goes to standard error.
/// Returns why it failed; "" if its exit code is 0, or if there is no program.
std::string call_hook(const RunHook& hook, std::uint64_t number, const char* when, const std::string& run_file,
                      const std::string& comment);

}  // namespace eventloom
