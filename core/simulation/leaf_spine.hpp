#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The topology "leaf-spine:LEAVES,NODES_PER_LEAF,SPINES": one link between each leaf switch and each spine switch, at
/// the rate of a node's link. Needs no SimGrid.
namespace eventloom {

struct LeafSpine {
  std::uint64_t leaves = 0;
  std::uint64_t nodes_per_leaf = 0;
  std::uint64_t spines = 0;

  /// Ratio of the total rate of a leaf's nodes to that of its uplinks; at most 1 for a network that is not
  /// oversubscribed.
  [[nodiscard]] double oversubscription() const {
    return static_cast<double>(nodes_per_leaf) / static_cast<double>(spines);
  }
  /// SimGrid's topo_parameters for a fat tree.
  [[nodiscard]] std::string fat_tree() const {
    return "2;" + std::to_string(nodes_per_leaf) + "," + std::to_string(leaves) + ";1," + std::to_string(spines) +
           ";1,1";
  }
};

/// Parses "leaf-spine:8,16,4"; std::nullopt for any other text.
inline std::optional<LeafSpine> leaf_spine_of(std::string_view topology) {
  constexpr std::string_view kName = "leaf-spine:";
  constexpr std::uint64_t kMost = 65'536;
  if (!topology.starts_with(kName)) return std::nullopt;
  topology.remove_prefix(kName.size());
  LeafSpine of;
  for (auto* number : {&of.leaves, &of.nodes_per_leaf, &of.spines}) {
    const auto* end = topology.data() + topology.size();
    const auto [rest, error] = std::from_chars(topology.data(), end, *number);
    if (error != std::errc() || *number == 0 || *number > kMost) return std::nullopt;
    topology.remove_prefix(static_cast<std::size_t>(rest - topology.data()));
    if (number == &of.spines) return topology.empty() ? std::optional(of) : std::nullopt;
    if (!topology.starts_with(',')) return std::nullopt;
    topology.remove_prefix(1);
  }
  return std::nullopt;
}

}  // namespace eventloom
