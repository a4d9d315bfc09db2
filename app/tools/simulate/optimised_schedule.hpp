#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "app/tools/simulate/simulate_options.hpp"
#include "app/tools/simulate/simulator.hpp"

namespace eventloom {

/// --optimise.
void add_optimise_option(boost::program_options::options_description& options);
/// Adds the file that it writes, if it is given.
void plan_optimise(FilePlan& files, const boost::program_options::variables_map& values);

/// A schedule that is made for the platform: its order, also with times, simulated beside the others.
class OptimisedSchedule {
 public:
  /// Searches, and says what it has found on standard error. `points`: those of the other schedules, which must be of
  /// one number of nodes and one size of messages; `slots`: how long a transfer may take, tried besides the order alone
  /// and steps that just fit or are a little longer. Throws UserError.
  OptimisedSchedule(const Simulator& simulator, std::string file, const std::vector<SimulationSettings>& points,
                    const std::vector<SimulatedSlots>& slots);

  [[nodiscard]] const std::vector<SimulationSettings>& points() const { return points_; }
  /// Any point that has been simulated.
  void consider(const SimulationSettings& point, const SimulationResult& result);
  /// A point cannot be simulated. True if it is one of its own, whose slots may be too short for the clocks: another
  /// one will do.
  bool leave_out(const SimulationSettings& point, const std::string& why) const;
  /// Writes the best of its own points to the file. Returns a line about it. Throws UserError.
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

/// Nothing when --optimise is not given. Adds its points to `points`.
std::optional<OptimisedSchedule> optimise(const Simulator& simulator,
                                          const boost::program_options::variables_map& values,
                                          const std::vector<SimulatedSlots>& slots,
                                          std::vector<SimulationSettings>& points);

}  // namespace eventloom
