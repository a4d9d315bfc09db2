#include "app/run/run_hook.hpp"

#include <unistd.h>

#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/subprocess.hpp"

namespace eventloom {

std::string call_hook(const RunHook& hook, std::uint64_t number, const char* when, const std::string& run_file,
                      const std::string& comment) {
  if (hook.words.empty()) return {};
  const Activity activity("waiting for the run hook");
  auto words = hook.words;
  words.insert(words.end(), {std::to_string(number), when});
  const auto called = fmt::format("--run-hook '{} {} {}'", hook.words.front(), number, when);
  try {
    Subprocess process(Program{
        .words = words,
        .environment = with_variables(own_environment(), {{"EVENTLOOM_RUN", run_file}, {"EVENTLOOM_COMMENT", comment}}),
        .output = STDERR_FILENO,
        .own_group = true});
    const auto end = process.wait_until(std::chrono::steady_clock::now() + hook.timeout);
    if (!end) {
      return fmt::format("{} took longer than {:.1f} s and was killed", called,
                         std::chrono::duration<double>(hook.timeout).count());
    }
    if (end->good()) return {};
    if (end->signal != 0) return fmt::format("{} was ended by signal {}", called, end->signal);
    return fmt::format("{} ended with exit code {}", called, end->exit_code);
  } catch (const UserError& error) {
    return fmt::format("{}: {}", called, error.what());
  }
}

}  // namespace eventloom
