#include "core/simulation/platform.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/setting.hpp"
#include "core/simulation/leaf_spine.hpp"

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostNodes = 65'536;

/// A topology in SimGrid's terms.
struct Cluster {
  std::string kind;        ///< value of the attribute "topology"
  std::string parameters;  ///< value of "topo_parameters"
  std::uint64_t nodes = 0;
};

[[noreturn]] void refuse(const std::string& topology, const std::string& why) {
  throw UserError(name_of(Setting::topology) + " " + topology + ": " + why);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  if (text.ends_with(separator)) parts.emplace_back();
  return parts;
}

/// Parses comma-separated positive integers; std::nullopt for any other text.
std::optional<Numbers> numbers_in(const std::string& text) {
  Numbers numbers;
  for (const auto& word : parts_of(text, ',')) {
    const bool digits = !word.empty() && word.size() <= 6 && word.find_first_not_of("0123456789") == std::string::npos;
    const auto number = digits ? std::stoull(word) : 0;
    if (number == 0) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

/// The product, or kMostNodes + 1 if it exceeds kMostNodes.
std::uint64_t product(const Numbers& numbers) {
  std::uint64_t all = 1;
  for (const auto number : numbers) all = std::min(all * number, kMostNodes + 1);
  return all;
}

Cluster fat_tree(const std::string& topology, const std::string& text) {
  constexpr const char* kForm = "expected fat-tree:LEVELS;DOWN;UP;PARALLEL, as in 'fat-tree:2;16,16;1,16;1,1'";
  const auto parts = parts_of(text, ';');
  if (parts.size() != 4) refuse(topology, kForm);
  const auto levels = numbers_in(parts[0]);
  const auto down = numbers_in(parts[1]);
  const auto up = numbers_in(parts[2]);
  const auto parallel = numbers_in(parts[3]);
  if (!levels || levels->size() != 1 || !down || !up || !parallel) refuse(topology, kForm);
  for (const auto* list : {&*down, &*up, &*parallel}) {
    if (list->size() != levels->front()) refuse(topology, "DOWN, UP and PARALLEL need a number for each level");
  }
  return {"FAT_TREE", text, product(*down)};
}

Cluster leaf_spine(const std::string& topology) {
  const auto of = leaf_spine_of(topology);
  if (!of) refuse(topology, "expected leaf-spine:LEAVES,NODES_PER_LEAF,SPINES, as in leaf-spine:8,16,8");
  return {"FAT_TREE", of->fat_tree(), product({of->leaves, of->nodes_per_leaf})};
}

Cluster dragonfly(const std::string& topology, const std::string& text) {
  constexpr const char* kForm =
      "expected dragonfly:GROUPS,LINKS;CHASSIS,LINKS;ROUTERS,LINKS;NODES, as in 'dragonfly:4,4;4,3;4,1;2'";
  const auto parts = parts_of(text, ';');
  if (parts.size() != 4) refuse(topology, kForm);
  Numbers sizes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto numbers = numbers_in(parts[i]);
    if (!numbers || numbers->size() != (i == 3 ? 1 : 2)) refuse(topology, kForm);
    sizes.push_back(numbers->front());
  }
  // Otherwise SimGrid reads past a router's links: the link to group n is at router n of a group's first chassis.
  if (sizes[0] > sizes[2]) refuse(topology, "more groups than a chassis has routers");
  return {"DRAGONFLY", text, product(sizes)};
}

Cluster torus(const std::string& topology, const std::string& text) {
  const auto sizes = numbers_in(text);
  if (!sizes) refuse(topology, "expected torus:X,Y,..., as in 'torus:4,4,4'");
  return {"TORUS", text, product(*sizes)};
}

/// Returns std::nullopt if the topology is a file.
std::optional<Cluster> cluster_of(const SimulationSettings& settings) {
  const auto& topology = settings.topology;
  const auto colon = topology.find(':');
  const auto name = topology.substr(0, colon);
  const auto text = colon == std::string::npos ? std::string() : topology.substr(colon + 1);
  if (topology == "star" || topology == "switch") return Cluster{"FLAT", "", settings.nodes};
  if (name == "leaf-spine") return leaf_spine(topology);
  if (name == "fat-tree") return fat_tree(topology, text);
  if (name == "dragonfly") return dragonfly(topology, text);
  if (name == "torus") return torus(topology, text);
  if (std::filesystem::is_regular_file(topology)) return std::nullopt;
  refuse(topology, "neither switch (or star), leaf-spine:, fat-tree:, dragonfly: or torus:, nor a platform file");
}

std::string platform_text(const Cluster& cluster, const SimulationSettings& settings) {
  const bool star = cluster.kind == "FLAT";
  const auto parameters =
      star ? "" : fmt::format(R"( topology="{}" topo_parameters="{}")", cluster.kind, cluster.parameters);
  // A path through a star has two links. SimGrid 4.0 crashes if a cluster of another kind is in no zone.
  return fmt::format(
      R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="all" routing="Full">
<cluster id="net" prefix="node-" suffix="" radical="0-{}" speed="1Gf" bw="{:.17g}Bps" lat="{:.17g}s"
 sharing_policy="SPLITDUPLEX"{}/>
</zone>
</platform>
)",
      cluster.nodes - 1, settings.link_rate, settings.link_latency / (star ? 2 : 1), parameters);
}

/// SimGrid reads only files.
void load_text(s4u::Engine& engine, const std::string& text) {
  const int file = memfd_create("platform", 0);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot hold the platform in memory");
  }
  engine.load_platform("/proc/self/fd/" + std::to_string(file));
  close(file);
}

/// Sorts "node-9" before "node-10".
bool by_number(const s4u::Host* a, const s4u::Host* b) {
  const auto& x = a->get_name();
  const auto& y = b->get_name();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

void load_file(s4u::Engine& engine, const std::string& file) {
  try {
    engine.load_platform(file);
  } catch (const std::exception& e) {
    std::string what = e.what();
    std::ranges::replace(what, '\n', ' ');
    refuse(file, "not a valid SimGrid platform: " + what);
  }
}

}  // namespace

std::vector<s4u::Host*> load_platform(s4u::Engine& engine, const SimulationSettings& settings) {
  const auto cluster = cluster_of(settings);
  if (cluster && cluster->nodes > kMostNodes) {
    refuse(settings.topology, "more than " + std::to_string(kMostNodes) + " nodes");
  }
  if (cluster) {
    if (settings.nodes <= cluster->nodes) load_text(engine, platform_text(*cluster, settings));
  } else {
    load_file(engine, settings.topology);
  }
  const auto there = cluster ? cluster->nodes : engine.get_host_count();
  if (settings.nodes > there) {
    refuse(settings.topology, "it has " + std::to_string(there) + " nodes, " + name_of(Setting::nodes) + " asks for " +
                                  std::to_string(settings.nodes));
  }
  auto hosts = engine.get_all_hosts();
  std::ranges::sort(hosts, by_number);
  hosts.resize(settings.nodes);
  return hosts;
}

Route route_between(const s4u::Host& from, const s4u::Host& to) {
  Route route;
  from.route_to(&to, route.links, &route.latency);
  route.rate = std::numeric_limits<double>::infinity();
  for (const auto* link : route.links) route.rate = std::min(route.rate, link->get_bandwidth());
  return route;
}

}  // namespace eventloom
