#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The network, the messages and what disturbs: the options that `simulate` and `plan --simulate` share.
void add_network_options(boost::program_options::options_description& options);
/// These, and what `simulate` compares.
void add_simulate_options(boost::program_options::options_description& options);

/// The slots of a schedule that keeps slots.
struct SimulatedSlots {
  std::uint64_t ns = 0;  ///< 0: none
  bool fit = false;      ///< just long enough for a message
};
/// Of `simulate`. Throws UserError.
std::vector<SimulatedSlots> slots_option(const boost::program_options::variables_map& values);
struct SimulatedOrder {
  std::string schedule;
  std::string table_text;
  SimulatedSlots slots;
};
/// Each of `schedules`, with its table if it has one, with each of `slots`, or without where it keeps none.
std::vector<SimulatedOrder> orders_of(const std::vector<std::string>& schedules,
                                      const std::vector<SimulatedSlots>& slots);

/// By the network options, but for the sizes. Throws UserError.
SimulationSettings network_settings(const boost::program_options::variables_map& values);
std::vector<std::uint64_t> message_sizes(const boost::program_options::variables_map& values);

/// `settings` with each order and each size of messages, and rings for these. Throws UserError when there are not the
/// nodes that the settings name.
std::vector<SimulationSettings> points_of(SimulationSettings settings, const std::vector<SimulatedOrder>& orders,
                                          const std::vector<std::uint64_t>& sizes, const RingOptions& ring);

/// All points that the options of `simulate` ask for: of each number of nodes, each schedule, with each length of its
/// slots, each size. Throws UserError.
std::vector<SimulationSettings> simulation_points(const boost::program_options::variables_map& values);

/// Adds the platform file, if the topology is one.
void plan_topology(FilePlan& files, const boost::program_options::variables_map& values);

/// "100Gbit", "940Mbit/s", "12.5GB/s": bytes per second. Throws std::invalid_argument.
double parse_rate(const std::string& text);

}  // namespace eventloom
