#include "core/fabric/link_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include "core/fabric/link_graph.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kNamesShown = 3;
constexpr std::array<std::string_view, 2> kDirections = {"_UP", "_DOWN"};

std::optional<std::uint32_t> number_in(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return static_cast<std::uint32_t>(std::stoul(text));
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
  return parts;
}

/// The links between the switches next to the nodes and those above.
class Leaves {
 public:
  explicit Leaves(const FabricRoutes& fabric) : fabric_(fabric), graph_(fabric) {
    for (std::uint32_t node = 0; node < fabric.nodes; ++node) {
      const auto at = leaf_of(node);
      if (std::ranges::find(leaves_, at) == leaves_.end()) leaves_.push_back(at);
    }
  }
  [[nodiscard]] std::size_t size() const { return leaves_.size(); }

  /// The links from a leaf to the switches above.
  [[nodiscard]] std::vector<LinkNumber> uplinks(std::size_t leaf) const {
    std::vector<LinkNumber> links;
    for (std::uint32_t to = 0; to < fabric_.nodes; ++to) {
      for (std::uint32_t from = 0; from < fabric_.nodes; ++from) {
        const auto& route = fabric_.route(from, to);
        if (route.size() < 3 || leaf_of(from) != leaves_[leaf]) continue;
        if (std::ranges::find(links, route[1]) == links.end()) links.push_back(route[1]);
      }
    }
    return links;
  }
  /// The links that lead back from the end of `up` to its beginning.
  [[nodiscard]] std::vector<LinkNumber> downlinks(LinkNumber up) const {
    auto links = graph_.links_from(graph_.end_of(up));
    std::erase_if(links, [&](LinkNumber link) { return graph_.end_of(link) != graph_.begin_of(up); });
    return links;
  }

 private:
  [[nodiscard]] Junction leaf_of(std::uint32_t node) const {
    return graph_.end_of(fabric_.route(node, node == 0 ? 1 : 0).front());
  }

  const FabricRoutes& fabric_;
  LinkGraph graph_;
  std::vector<Junction> leaves_;
};

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& why) {
  throw UserError(option + " " + text + ": " + why);
}

std::vector<LinkNumber> links_between(const FabricRoutes& fabric, const std::string& text, const std::string& option) {
  const auto parts = parts_of(text);
  const auto leaf = parts.size() == 3 ? number_in(parts[1]) : std::nullopt;
  const auto spine = parts.size() == 3 ? number_in(parts[2]) : std::nullopt;
  if (!leaf || !spine) refuse(option, text, "expected " + parts[0] + ":LEAF:SPINE, with numbers from 0");
  const Leaves leaves(fabric);
  if (*leaf >= leaves.size()) {
    refuse(option, text, "no leaf switch " + parts[1] + " among " + std::to_string(leaves.size()) + ", counted from 0");
  }
  const auto ups = leaves.uplinks(*leaf);
  if (*spine >= ups.size()) {
    refuse(option, text, "the leaf switch has " + std::to_string(ups.size()) + " links up, counted from 0");
  }
  std::vector<LinkNumber> links;
  if (parts[0] != "down") links.push_back(ups[*spine]);
  if (parts[0] == "up") return links;
  std::ranges::copy(leaves.downlinks(ups[*spine]), std::back_inserter(links));
  return links;
}

std::vector<LinkNumber> links_of_node(const FabricRoutes& fabric, std::uint32_t node, const std::string& option) {
  if (node >= fabric.nodes) {
    throw UserError(option + ": no node " + std::to_string(node) + " among " + std::to_string(fabric.nodes) +
                    ", counted from 0");
  }
  const std::uint32_t other = node == 0 ? 1 : 0;
  const std::set links{fabric.route(node, other).front(), fabric.route(other, node).back()};
  return {links.begin(), links.end()};
}

std::string similar_names(const FabricRoutes& fabric, const std::string& text) {
  std::vector<std::string_view> candidates(fabric.names.begin(), fabric.names.end());
  std::string similar;
  for (std::size_t i = 0; i < kNamesShown; ++i) {
    const auto name = closest(text, candidates);
    if (name.empty()) break;
    similar += (similar.empty() ? "" : ", ") + std::string(name);
    std::erase(candidates, name);
  }
  if (!similar.empty()) return "; the closest names are " + similar;
  return "; names are as " + fabric.names.front() + ", or see the report's hot links";
}

}  // namespace

std::vector<LinkNumber> links_named(const FabricRoutes& fabric, const std::string& text, const std::string& option) {
  if (const auto node = number_in(text)) return links_of_node(fabric, *node, option);
  for (const char* begin : {"up:", "down:", "cable:"}) {
    if (text.starts_with(begin)) return links_between(fabric, text, option);
  }
  std::vector<LinkNumber> links;
  for (LinkNumber link = 0; link < fabric.names.size(); ++link) {
    const auto& name = fabric.names[link];
    const bool in_direction = std::ranges::any_of(
        kDirections, [&](std::string_view direction) { return name == text + std::string(direction); });
    if (name == text || in_direction) links.push_back(link);
  }
  if (links.empty())
    refuse(option, text, "no route between the nodes crosses such a link" + similar_names(fabric, text));
  return links;
}

}  // namespace eventloom
