#pragma once

#include <boost/program_options/variables_map.hpp>
#include <optional>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/runtime/json.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Throughput of one core of this machine, in bytes of epoch buffers per second.
struct Calibration {
  double build_rate = 0;   ///< decode, check, sort by time, search for events
  double source_rate = 0;  ///< collect recorded slices from the page cache
};

/// Returns the definition for which --calibrate measures; null if the option is absent. Throws UserError.
EventDefinitionPtr calibrated_definition(const boost::program_options::variables_map& values);

/// Generates streams of 16 sources, then reads and builds them as a run does, each for `seconds` of CPU time. Throws
/// UserError if there is no room for temporary files or the events do not fit.
Calibration measure_rates(const EventDefinitionPtr& definition, double seconds);

/// If --calibrate is given, measures, prints the result to standard error, and enters it into all points.
std::optional<Calibration> calibrate(const boost::program_options::variables_map& values,
                                     std::vector<SimulationSettings>& points);

Json to_json(const Calibration& measured);

}  // namespace eventloom
