#include "app/tools/simulate/simulator.hpp"

#include <unistd.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>

#include "app/tools/simulate/simulation_json.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/subprocess.hpp"
#include "core/simulation/leaf_spine.hpp"

namespace eventloom {

namespace {

void report_oversubscription(const std::string& topology) {
  const auto of = leaf_spine_of(topology);
  if (!of) return;
  log::info("leaf-spine: {} nodes; a leaf has {} and {} links to spines: {}", of->leaves * of->nodes_per_leaf,
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
  const auto program = program_beside_this("eventloom-simulator");
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
  if (!points.empty()) report_oversubscription(points.front().topology);
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
    log::info("{} nodes, {}: simulated in {:.1f} s and {}", point.nodes, name_of(point, result), cost.seconds,
              in_mebibytes(cost.peak_bytes));
  }
}

Json Simulator::ask(const SimulationSettings& settings, const char* task, SimulationCost* cost) const {
  const auto text = to_json(settings).dump();
  const auto begun = std::chrono::steady_clock::now();
  // Passed in a file, since a table may be longer than an argument may be.
  const MemoryFile input(text);
  const MemoryFile result;
  const MemoryFile messages;
  Program program{
      .words = {program_}, .input = input.descriptor(), .output = result.descriptor(), .errors = messages.descriptor()};
  if (task != nullptr) program.words.emplace_back(task);
  const auto end = Subprocess(program).wait();
  const auto output = result.text();
  if (cost != nullptr) {
    cost->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    cost->peak_bytes = end.peak_bytes;
  }
  if (end.signal != 0 || output.empty()) {
    const auto words = last_words(messages.text());
    if (task != nullptr) throw UserError("--topology " + settings.topology + ": " + words);
    throw std::runtime_error("the simulation ended without a result" + (words.empty() ? "" : ": " + words));
  }
  auto answer = Json::parse(output);
  if (end.exit_code == kExitUsage) throw UserError(answer.value("error", ""));
  if (end.exit_code != kExitOk) throw std::runtime_error("the simulation failed: " + answer.value("error", ""));
  return answer;
}

}  // namespace eventloom
