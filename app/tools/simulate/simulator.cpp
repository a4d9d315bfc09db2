#include "app/tools/simulate/simulator.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

#include "app/tools/simulate/simulation_json.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/memory.hpp"
#include "core/simulation/leaf_spine.hpp"

namespace eventloom {

namespace {

struct Ended {
  int status = 0;
  std::string output;
  std::string messages;
  std::uint64_t peak_bytes = 0;
};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), std::string("simulation: ") + what);
}

std::string text_from(int file) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const auto n = read(file, part.data(), part.size());
    if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

/// Returns an in-memory file that holds `text`, positioned at its beginning. A table may exceed the maximum
/// length of an argument.
int file_with(const std::string& text) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  std::size_t done = 0;
  while (file >= 0 && done < text.size()) {
    const auto n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) fail("input");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (file < 0 || lseek(file, 0, SEEK_SET) != 0) fail("input");
  return file;
}

Ended run_program(std::array<const char*, 3> arguments, const std::string& text) {
  std::array<int, 2> pipe{};
  const int input = file_with(text);
  const int messages = memfd_create("messages", MFD_CLOEXEC);
  if (messages < 0 || pipe2(pipe.data(), O_CLOEXEC) != 0) fail("pipe");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    dup2(input, STDIN_FILENO);
    dup2(pipe[1], STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    execv(arguments[0], const_cast<char* const*>(arguments.data()));
    _exit(127);
  }
  close(pipe[1]);
  close(input);
  Ended ended;
  ended.output = text_from(pipe[0]);
  close(pipe[0]);
  rusage usage{};
  while (wait4(child, &ended.status, 0, &usage) < 0 && errno == EINTR) {
  }
  ended.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  lseek(messages, 0, SEEK_SET);
  ended.messages = text_from(messages);
  close(messages);
  return ended;
}

void tell_oversubscription(const std::string& topology) {
  const auto of = leaf_spine_of(topology);
  if (!of) return;
  spdlog::info("leaf-spine: {} nodes; a leaf has {} and {} links to spines: {}", of->leaves * of->nodes_per_leaf,
               of->nodes_per_leaf, of->spines,
               of->oversubscription() > 1 ? fmt::format("oversubscribed {:.3g} : 1", of->oversubscription())
                                          : "not oversubscribed");
}

/// Returns the message with which SimGrid aborts.
std::string last_words(const std::string& messages) {
  constexpr std::string_view kMark = "CRITICAL] ";
  const auto mark = messages.find(kMark);
  const auto begin = mark == std::string::npos ? 0 : mark + kMark.size();
  return messages.substr(begin, messages.find('\n', begin) - begin);
}

}  // namespace

std::string name_of(const SimulationSettings& settings, const SimulationResult& result) {
  if (result.slot_ns == 0) return settings.schedule;
  return fmt::format("{}, slots of {:.1f} us", settings.schedule, static_cast<double>(result.slot_ns) / 1000);
}

Simulator Simulator::beside_this() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "eventloom-simulator";
  if (access(program.c_str(), X_OK) == 0) return Simulator(program);
  throw UserError(
      "this eventloom was built without SimGrid; install the package libsimgrid-dev and build again: jobs/setup.sh "
      "does both");
}

void Simulator::check(const SimulationSettings& settings) const {
  static_cast<void>(ask(settings, "--check", nullptr));
}

SimulationResult Simulator::run(const SimulationSettings& settings, SimulationCost* cost) const {
  return result_of(ask(settings, nullptr, cost));
}

PlatformPhases Simulator::phases(const SimulationSettings& settings) const {
  return phases_of(ask(settings, "--phases", nullptr));
}

void Simulator::run_all(const std::vector<SimulationSettings>& points,
                        const std::function<void(const SimulationSettings&, const SimulationResult&)>& done,
                        const std::function<void(const SimulationSettings&, const std::string&)>& refused) const {
  std::set<std::uint32_t> checked;
  if (!points.empty()) tell_oversubscription(points.front().topology);
  for (const auto& point : points) {
    if (checked.insert(point.nodes).second) check(point);
  }
  for (const auto& point : points) {
    SimulationCost cost;
    SimulationResult result;
    try {
      result = run(point, &cost);
    } catch (const UserError& e) {
      if (!refused) throw;
      refused(point, e.what());
      continue;
    }
    done(point, result);
    spdlog::info("{} nodes, {}: simulated in {:.1f} s and {}", point.nodes, name_of(point, result), cost.seconds,
                 in_mebibytes(cost.peak_bytes));
  }
}

nlohmann::json Simulator::ask(const SimulationSettings& settings, const char* task, SimulationCost* cost) const {
  const auto text = to_json(settings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto begun = std::chrono::steady_clock::now();
  const auto ended = run_program({program_.c_str(), task, nullptr}, text);
  if (cost != nullptr) {
    cost->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    cost->peak_bytes = ended.peak_bytes;
  }
  if (!WIFEXITED(ended.status) || ended.output.empty()) {
    const auto words = last_words(ended.messages);
    if (task != nullptr) throw UserError("--topology " + settings.topology + ": " + words);
    throw std::runtime_error("the simulation ended without a result" + (words.empty() ? "" : ": " + words));
  }
  auto answer = nlohmann::json::parse(ended.output);
  const int code = WEXITSTATUS(ended.status);
  if (code == kExitUsage) throw UserError(answer.value("error", ""));
  if (code != kExitOk) throw std::runtime_error("the simulation failed: " + answer.value("error", ""));
  return answer;
}

}  // namespace eventloom
