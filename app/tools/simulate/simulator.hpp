#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/runtime/json.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Resources that a simulation used on this machine.
struct SimulationCost {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< peak memory
};

/// Example: "round-robin" or "round-robin, slots of 52.4 us".
std::string name_of(const SimulationSettings& settings, const SimulationResult& result);

/// Runs simulations in separate processes, because SimGrid allows only one per process.
class Simulator {
 public:
  /// `program`: path of eventloom-simulator.
  explicit Simulator(std::filesystem::path program) : program_(std::move(program)) {}
  /// Returns the simulator next to this program. Throws UserError if there is none: this build lacks SimGrid.
  static Simulator beside_this();

  /// Throws UserError if the platform is invalid or too small.
  void check(const SimulationSettings& settings) const;
  /// Throws UserError for settings that do not fit, and std::runtime_error if the simulation fails.
  [[nodiscard]] SimulationResult run(const SimulationSettings& settings, SimulationCost* cost = nullptr) const;
  /// Throws like run().
  [[nodiscard]] PlatformPhases phases(const SimulationSettings& settings) const;
  /// Runs all points in order and prints the cost of each to standard error. Throws UserError before the first point,
  /// which may take minutes, if a platform is invalid. `refused` receives the points that the simulator refuses, with
  /// the reason; if it is empty, such a point throws UserError.
  void run_all(const std::vector<SimulationSettings>& points,
               const std::function<void(const SimulationSettings&, const SimulationResult&)>& done,
               const std::function<void(const SimulationSettings&, const std::string&)>& refused = {}) const;

 private:
  [[nodiscard]] Json ask(const SimulationSettings& settings, const char* task, SimulationCost* cost) const;

  std::filesystem::path program_;
};

}  // namespace eventloom
