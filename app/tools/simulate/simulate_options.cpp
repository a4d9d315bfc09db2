#include "app/tools/simulate/simulate_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/command/schedule_table.hpp"
#include "app/tools/simulate/calibration.hpp"
#include "app/tools/simulate/link_options.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kMostRanks = 65'535;
constexpr std::uint64_t kLeastMessage = 1024;
constexpr std::uint64_t kMostMessage = 1U << 30;

struct Unit {
  std::string_view name;  ///< lower case if any_case
  double bytes = 0;
  bool any_case = false;
};
constexpr std::array kRates = {Unit{"kbit", 125, true},   Unit{"mbit", 125e3, true}, Unit{"gbit", 125e6, true},
                               Unit{"tbit", 125e9, true}, Unit{"kB", 1e3},           Unit{"MB", 1e6},
                               Unit{"GB", 1e9},           Unit{"KiB", 1024},         Unit{"MiB", 1048576},
                               Unit{"GiB", 1073741824}};

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

const std::string& word(const po::variables_map& values, const char* option) {
  return values[option].as<std::string>();
}

double rate_option(const po::variables_map& values, const char* option) {
  if (word(values, option).empty()) return 0;
  return parsed(option, [&] { return parse_rate(word(values, option)); });
}

double seconds_option(const po::variables_map& values, const char* option) {
  return std::chrono::duration<double>(duration_option(values, option)).count();
}

double positive_number(const std::string& text) {
  const auto decimal = parse_decimal(text);
  if (!decimal || decimal->digits == 0) throw std::invalid_argument("'" + text + "' is not a number above 0");
  return to_double(*decimal);
}

/// Converts a percentage to a fraction.
double percent_option(const po::variables_map& values, const char* option, double most) {
  auto text = word(values, option);
  if (text.ends_with('%')) text.pop_back();
  const auto decimal = parse_decimal(text);
  const double percent = decimal ? to_double(*decimal) : -1;
  if (percent >= 0 && percent <= most) return percent / 100;
  throw UserError("--" + std::string(option) + " must be from 0 to " + std::to_string(std::llround(most)) +
                  " per cent, not '" + word(values, option) + "'");
}

void read_link(const po::variables_map& values, SimulationSettings& settings) {
  const auto words = words_of(word(values, "link"));
  if (words.size() != 2) throw UserError("--link: expected RATE,LATENCY, as in 100Gbit,1us");
  settings.link_rate = parsed("link", [&] { return parse_rate(words[0]); });
  const auto ps = parsed("link", [&] { return parse_picoseconds(words[1]); });
  settings.link_latency = static_cast<double>(ps) * 1e-12;
}

/// Parses "NODE" or "NODE:FACTOR".
std::vector<OfNode> of_nodes_option(const po::variables_map& values, const char* option, double factor) {
  std::vector<OfNode> all;
  if (values.count(option) == 0) return all;
  for (const auto& text : values[option].as<std::vector<std::string>>()) {
    const auto colon = text.find(':');
    OfNode of;
    of.node = static_cast<std::uint32_t>(in_range<std::uint64_t>(
        option, parsed(option, [&] { return parse_count(text.substr(0, colon)); }), 0, kMostRanks));
    of.factor = factor;
    if (colon != std::string::npos) {
      of.factor = parsed(option, [&] { return positive_number(text.substr(colon + 1)); });
    }
    all.push_back(of);
  }
  return all;
}

void read_rates(const po::variables_map& values, SimulationSettings& settings) {
  settings.build_rate = rate_option(values, "build-rate");
  settings.source_rate = rate_option(values, "source-rate");
  settings.slow_builders = of_nodes_option(values, "slow-builder", 2);
  const bool measures = calibrated_definition(values) != nullptr;
  for (const char* rate : {"build-rate", "source-rate"}) {
    if (measures && !word(values, rate).empty()) {
      throw UserError("--calibrate measures what --" + std::string(rate) + " says; give one of them");
    }
  }
  if (!settings.slow_builders.empty() && settings.build_rate == 0 && !measures) {
    throw UserError("--slow-builder needs --build-rate or --calibrate: without them builders take no time");
  }
}

void read_disturbances(const po::variables_map& values, SimulationSettings& settings) {
  settings.spread = percent_option(values, "spread", 99);
  settings.message_cost = seconds_option(values, "message-cost");
  settings.noise = seconds_option(values, "noise");
  settings.jitter = percent_option(values, "jitter", 1e6);
  read_link_options(values, settings);
  settings.clock_drift = static_cast<double>(count_option(values, "clock-drift", 0, 10'000)) * 1e-6;
  settings.clock_noise = seconds_option(values, "clock-noise");
}

/// Sizes the rings as in a run on cores with the usual cache, without a memory limit.
RingGeometry ring_of(const SimulationSettings& settings, const RingOptions& options) {
  const double longest = static_cast<double>(settings.message_bytes) * (1 + settings.spread);
  return ring_size({.message_bytes = static_cast<std::uint64_t>(std::ceil(longest)), .rings = settings.ranks()},
                   options)
      .geometry();
}

SimulatedSlots slots_of(const std::string& text) {
  if (text == "auto") return {.ns = 0, .fit = true};
  if (text == "0") return {};
  const auto ps = parsed("slot", [&] { return parse_picoseconds(text); });
  return {.ns = in_range<std::uint64_t>("slot", ps / 1000, 1, 1'000'000'000), .fit = false};
}

bool may_have_slots(const std::string& schedule) {
  try {
    check_schedule(schedule, 1000);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

std::vector<SimulatedOrder> orders_option(const po::variables_map& values) {
  std::vector<std::string> schedules;
  for (const auto& list : values["schedule"].as<std::vector<std::string>>()) {
    std::ranges::move(words_of(list), std::back_inserter(schedules));
  }
  if (schedules.empty()) throw UserError("--schedule needs at least one value");
  const auto slots = slots_option(values);
  for (const auto& schedule : schedules) check_schedule(schedule, 0);
  if (!slots.empty() && std::ranges::none_of(schedules, may_have_slots)) {
    throw UserError("--slot: no schedule given keeps slots; round-robin does");
  }
  return orders_of(schedules, slots);
}

void check_nodes(const SimulationSettings& settings) {
  if (std::uint64_t{settings.nodes} * settings.ranks_per_node > kMostRanks) {
    throw UserError("--nodes times --ranks-per-node must be at most " + std::to_string(kMostRanks));
  }
  for (const auto& of : settings.slow_builders) {
    if (of.node < settings.nodes) continue;
    throw UserError("--slow-builder: no node " + std::to_string(of.node) + " among " + std::to_string(settings.nodes) +
                    ", counted from 0");
  }
}

}  // namespace

std::vector<SimulatedSlots> slots_option(const po::variables_map& values) {
  std::vector<SimulatedSlots> slots;
  for (const auto& text : words_of(word(values, "slot"))) slots.push_back(slots_of(text));
  return slots;
}

double parse_rate(const std::string& text) {
  const auto end = text.find_first_not_of("0123456789.");
  auto unit = end == std::string::npos ? std::string() : text.substr(end);
  if (unit.ends_with("/s")) unit.resize(unit.size() - 2);
  for (const auto& known : kRates) {
    if (known.name != (known.any_case ? in_small_letters(unit) : unit)) continue;
    return positive_number(text.substr(0, end)) * known.bytes;
  }
  throw std::invalid_argument("'" + text + "' is not a rate; expected as in 100Gbit, 940Mbit or 12.5GB (a second)");
}

void add_network_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"topology", text_value("TEXT", "star"),
        "switch (one ideal switch; also: star); leaf-spine:LEAVES,NODES_PER_LEAF,SPINES, each leaf with one link to "
        "each spine; fat-tree:LEVELS;DOWN;UP;PARALLEL, dragonfly:G,L;C,L;R,L;N or torus:X,Y,... with SimGrid's "
        "numbers; or a SimGrid platform file"},
       {"link", text_value("RATE,LATENCY", "100Gbit,1us"), "of each link; the latency of a star is from node to node"},
       {"tcp", po::bool_switch(),
        "all data between two ranks are one ordered stream each way: notifications and acknowledgements wait behind "
        "them"}});
  add_link_options(options);
  add_transfers_option(options);
  add_option_rows(
      options,
      {{"ranks-per-node", text_value("N", "1"), "each with a source and a builder"},
       {"sizes", text_value("LIST", "64KiB"), "bytes of a message: what a source has for a slice"},
       {"spread", text_value("PERCENT", "0"), "sizes vary uniformly by this much up and down"},
       {"slices", text_value("N", "8"), "slices of each builder"},
       {"build-rate", text_value("RATE", "", "no time"), "of a builder, as in 4GB: it does nothing else meanwhile"},
       {"source-rate", text_value("RATE", "", "no time"), "likewise of a source"},
       {"calibrate", text_value("DEF", "", "no")->implicit_value("gap:25ns,4"),
        "measure both rates on this machine, events defined by DEF: --calibrate=gap:25ns,4 unless given"},
       {"message-cost", text_value("TIME", "0ns"), "time that a source takes for each message of any size"},
       {"noise", text_value("TIME", "0ns"),
        "random delay of each message of a source, on average: what else its host does"},
       {"slow-builder", list_value("NODE[:FACTOR]"), "node whose builders take FACTOR times as long (2); repeatable"},
       {"jitter", text_value("PERCENT", "0"),
        "random delay of builders: on average this part of the time in which a slice arrives at the link's rate"},
       {"clock-drift", text_value("PPM", "0"), "the nodes' clocks run fast or slow by up to this much"},
       {"clock-noise", text_value("TIME", "0ns"), "messages, by which clocks are compared, are up to this much late"},
       {"seed", text_value("N", "1"), "of all random numbers: the same seed gives the same output"}});
}

void add_simulate_options(po::options_description& options) {
  add_option_rows(options, {{"nodes", text_value("LIST", "16"), "numbers of nodes, each a simulation"},
                            {"schedule",
                             po::value<std::vector<std::string>>()->value_name("LIST")->composing()->default_value(
                                 {"round-robin"}, "round-robin"),
                             "schedules as in 'run', comma-separated; repeatable"},
                            {"slot", text_value("LIST", "", "none"),
                             "lengths of slots for schedules that keep them: 0 (order alone), 50us, auto (as a message "
                             "takes); comma-separated"},
                            {"slices-in-flight", text_value("N", "4"), "slices that a builder assembles at a time"}});
  add_ring_options(options);
  add_network_options(options);
}

SimulationSettings network_settings(const po::variables_map& values) {
  SimulationSettings settings;
  settings.topology = word(values, "topology");
  read_link(values, settings);
  settings.streams = values["tcp"].as<bool>();
  settings.transfers_in_flight = transfers_option(values);
  settings.ranks_per_node = static_cast<std::uint32_t>(count_option(values, "ranks-per-node", 1, 1024));
  settings.slices = count_option(values, "slices", 1, 1'000'000);
  settings.seed = count_option(values, "seed", 0, 1'000'000'000'000'000'000);
  read_rates(values, settings);
  read_disturbances(values, settings);
  return settings;
}

std::vector<std::uint64_t> message_sizes(const po::variables_map& values) {
  return sizes_option(values, "sizes", kLeastMessage, kMostMessage);
}

std::vector<SimulatedOrder> orders_of(const std::vector<std::string>& schedules,
                                      const std::vector<SimulatedSlots>& slots) {
  std::vector<SimulatedOrder> orders;
  for (const auto& schedule : schedules) {
    const bool with_slots = !slots.empty() && may_have_slots(schedule);
    if (!with_slots) orders.push_back({schedule, schedule_table_text(schedule), {}});
    for (const auto& of : slots) {
      if (with_slots) orders.push_back({schedule, "", of});
    }
  }
  return orders;
}

std::vector<SimulationSettings> points_of(SimulationSettings settings, const std::vector<SimulatedOrder>& orders,
                                          const std::vector<std::uint64_t>& sizes, const RingOptions& ring) {
  check_nodes(settings);
  std::vector<SimulationSettings> points;
  for (const auto& order : orders) {
    for (const auto size : sizes) {
      settings.schedule = order.schedule;
      settings.table_text = order.table_text;
      settings.slot_ns = order.slots.ns;
      settings.fit_slots = order.slots.fit;
      settings.message_bytes = size;
      settings.ring = ring_of(settings, ring);
      points.push_back(settings);
    }
  }
  return points;
}

std::vector<SimulationSettings> simulation_points(const po::variables_map& values) {
  auto settings = network_settings(values);
  settings.slices_in_flight = static_cast<std::uint32_t>(count_option(values, "slices-in-flight", 1, 10'000));
  const auto sizes = message_sizes(values);
  const auto ring = ring_options(values);
  const auto orders = orders_option(values);
  std::vector<SimulationSettings> points;
  for (const auto nodes : counts_option(values, "nodes", 2, kMostRanks)) {
    settings.nodes = static_cast<std::uint32_t>(nodes);
    std::ranges::move(points_of(settings, orders, sizes, ring), std::back_inserter(points));
  }
  return points;
}

void plan_topology(FilePlan& files, const po::variables_map& values) {
  const auto& topology = word(values, "topology");
  if (std::filesystem::is_regular_file(topology)) files.read(topology, "--topology");
}

}  // namespace eventloom
