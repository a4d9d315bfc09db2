#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The topology "leaf-spine:LEAVES,NODES_PER_LEAF,SPINES": each leaf switch is linked with every spine switch once, at
/// the rate of a node's link. Needs no SimGrid.
namespace eventloom {

struct LeafSpine {
  std::uint64_t leaves = 0;
  std::uint64_t nodes_per_leaf = 0;
  std::uint64_t spines = 0;

  /// The rate of a leaf's nodes over that of its links to the spines: 1 or less for a network that is not
  /// oversubscribed.
  [[nodiscard]] double oversubscription() const {
    return static_cast<double>(nodes_per_leaf) / static_cast<double>(spines);
  }
  /// SimGrid's topo_parameters of a fat tree.
  [[nodiscard]] std::string fat_tree() const {
    return "2;" + std::to_string(nodes_per_leaf) + "," + std::to_string(leaves) + ";1," + std::to_string(spines) +
           ";1,1";
  }
};

/// "leaf-spine:8,16,4"; nothing for any other text.
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
