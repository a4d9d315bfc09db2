#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "app/tools/simulate/simulate_options.hpp"
#include "app/tools/simulate/simulator.hpp"

namespace eventloom {

/// Adds --optimise.
void add_optimise_option(boost::program_options::options_description& options);
/// Adds the file that --optimise writes, if the option is given.
void plan_optimise(FilePlan& files, const boost::program_options::variables_map& values);

/// A schedule optimised for the platform: its order, also with slots, is simulated alongside the other schedules.
class OptimisedSchedule {
 public:
  /// Searches for a schedule and prints the result to standard error. `points`: those of the other schedules, which
  /// must share one number of nodes and one message size. `slots`: slot lengths to try in addition to the order alone
  /// and to steps that just fit or are slightly longer. Throws UserError.
  OptimisedSchedule(const Simulator& simulator, std::string file, const std::vector<SimulationSettings>& points,
                    const std::vector<SimulatedSlots>& slots);

  [[nodiscard]] const std::vector<SimulationSettings>& points() const { return points_; }
  /// Takes any point that has been simulated into account.
  void consider(const SimulationSettings& point, const SimulationResult& result);
  /// Reports that a point cannot be simulated. Returns true if it is one of this schedule's own points, whose slots may
  /// be too short for the clocks: another of them will do.
  bool leave_out(const SimulationSettings& point, const std::string& why) const;
  /// Writes the best of this schedule's points to the file and returns a line about it. Throws UserError.
  [[nodiscard]] std::string write() const;

 private:
  [[nodiscard]] std::string heading(const SimulationSettings& point) const;

  std::string file_;
  Phases phases_;
  std::vector<SimulationSettings> points_;
  std::string best_text_;
  std::string best_name_;
  double best_share_ = -1;
};

/// Adds the schedule's points to `points`. Returns std::nullopt if --optimise is not given.
std::optional<OptimisedSchedule> optimise(const Simulator& simulator,
                                          const boost::program_options::variables_map& values,
                                          const std::vector<SimulatedSlots>& slots,
                                          std::vector<SimulationSettings>& points);

}  // namespace eventloom
