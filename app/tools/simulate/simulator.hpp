#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// What a simulation took here.
struct SimulationCost {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< of memory
};

/// "round-robin", "round-robin, slots of 52.4 us".
std::string name_of(const SimulationSettings& settings, const SimulationResult& result);

/// Simulations in processes of their own, as SimGrid allows only one in each.
class Simulator {
 public:
  /// `program`: eventloom-simulator.
  explicit Simulator(std::filesystem::path program) : program_(std::move(program)) {}
  /// The one beside this program. Throws UserError when there is none, because this was built without SimGrid.
  static Simulator beside_this();

  /// Throws UserError when the platform is not valid, or too small.
  void check(const SimulationSettings& settings) const;
  /// Throws UserError for settings that do not fit, and std::runtime_error when the simulation fails.
  [[nodiscard]] SimulationResult run(const SimulationSettings& settings, SimulationCost* cost = nullptr) const;
  /// Throws as run().
  [[nodiscard]] PlatformPhases phases(const SimulationSettings& settings) const;
  /// Runs all points in order, and says on standard error what each has cost. Throws UserError before the first, which
  /// may take minutes, when a platform is not valid. `refused` receives the points with which the program does not run,
  /// and its reason; without it they throw UserError.
  void run_all(const std::vector<SimulationSettings>& points,
               const std::function<void(const SimulationSettings&, const SimulationResult&)>& done,
               const std::function<void(const SimulationSettings&, const std::string&)>& refused = {}) const;

 private:
  [[nodiscard]] nlohmann::json ask(const SimulationSettings& settings, const char* task, SimulationCost* cost) const;

  std::filesystem::path program_;
};

}  // namespace eventloom
