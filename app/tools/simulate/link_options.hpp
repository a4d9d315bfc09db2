#pragma once

#include <boost/program_options.hpp>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Adds --slow-link and --dead-link.
void add_link_options(boost::program_options::options_description& options);
/// Throws UserError if a factor is not a number. Link names are checked only when the platform is loaded.
void read_link_options(const boost::program_options::variables_map& values, SimulationSettings& settings);

}  // namespace eventloom
