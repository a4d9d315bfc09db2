#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "core/simulation/simulation.hpp"

namespace eventloom {

void add_simulate_options(boost::program_options::options_description& options);

/// All points that the options ask for: of each number of nodes, each schedule, with each length of its slots, each
/// size. Throws UserError.
std::vector<SimulationSettings> simulation_points(const boost::program_options::variables_map& values);

/// "100Gbit", "940Mbit/s", "12.5GB/s": bytes per second. Throws std::invalid_argument.
double parse_rate(const std::string& text);

}  // namespace eventloom
