#pragma once

#include <boost/program_options.hpp>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// --slow-link and --dead-link.
void add_link_options(boost::program_options::options_description& options);
/// Which links there are is known when the platform is loaded. Throws UserError for a factor that is no number.
void read_link_options(const boost::program_options::variables_map& values, SimulationSettings& settings);

}  // namespace eventloom
