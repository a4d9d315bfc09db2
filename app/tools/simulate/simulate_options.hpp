#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Adds the options for the network, the messages and the disturbances, which `simulate` and `plan --simulate` share.
void add_network_options(boost::program_options::options_description& options);
/// Adds the network options and the quantities that `simulate` compares.
void add_simulate_options(boost::program_options::options_description& options);

/// The slots of a schedule that uses slots.
struct SimulatedSlots {
  std::uint64_t ns = 0;  ///< 0: no slots
  bool fit = false;      ///< just long enough for a message
};
/// Returns the slots that `simulate` is to compare. Throws UserError.
std::vector<SimulatedSlots> slots_option(const boost::program_options::variables_map& values);
struct SimulatedOrder {
  std::string schedule;
  std::string table_text;
  SimulatedSlots slots;
};
/// Combines each of `schedules`, with its table if it has one, with each of `slots`; or with none if it uses no slots.
std::vector<SimulatedOrder> orders_of(const std::vector<std::string>& schedules,
                                      const std::vector<SimulatedSlots>& slots);

/// Returns the settings that the network options give, except for the sizes. Throws UserError.
SimulationSettings network_settings(const boost::program_options::variables_map& values);
std::vector<std::uint64_t> message_sizes(const boost::program_options::variables_map& values);

/// Combines `settings` with each order and each message size, and sizes the rings for it. Throws UserError if nodes
/// named in the settings do not exist.
std::vector<SimulationSettings> points_of(SimulationSettings settings, const std::vector<SimulatedOrder>& orders,
                                          const std::vector<std::uint64_t>& sizes, const RingOptions& ring);

/// Returns all points that the options of `simulate` request: each number of nodes, schedule, slot length and message
/// size. Throws UserError.
std::vector<SimulationSettings> simulation_points(const boost::program_options::variables_map& values);

/// Adds the platform file, if the topology is a file.
void plan_topology(FilePlan& files, const boost::program_options::variables_map& values);

/// Parses "100Gbit", "940Mbit/s" or "12.5GB/s" to bytes per second. Throws std::invalid_argument.
double parse_rate(const std::string& text);

}  // namespace eventloom
