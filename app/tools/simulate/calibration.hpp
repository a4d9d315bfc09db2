#pragma once

#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// What one core of this machine does, in bytes of epoch buffers per second.
struct Calibration {
  double build_rate = 0;   ///< decode, check, sort by time, search for events
  double source_rate = 0;  ///< collect recorded slices from the page cache
};

/// The events for which --calibrate measures; null when it is not given. Throws UserError.
EventDefinitionPtr calibrated_definition(const boost::program_options::variables_map& values);

/// Generates streams of 16 sources, and reads and builds them as a run does, each for as many seconds of CPU time.
/// Throws UserError when there is no room for temporary files, or the events do not fit.
Calibration measure_rates(const EventDefinitionPtr& definition, double seconds);

/// If --calibrate is given: measures, says the result on standard error, and enters it into all points.
std::optional<Calibration> calibrate(const boost::program_options::variables_map& values,
                                     std::vector<SimulationSettings>& points);

nlohmann::json to_json(const Calibration& measured);

}  // namespace eventloom
