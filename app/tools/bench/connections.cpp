#include <algorithm>
#include <array>
#include <stdexcept>

#include "app/tools/bench/traffic.hpp"

namespace eventloom {

namespace {

struct Pattern {
  std::string_view name;
  bool (*sends)(int from, int to, int ranks);
};

/// The patterns of Tables 9.1 to 9.7 of the DABC report (GSI 2006), preceded by the simplest case.
constexpr std::array kPatterns = {
    Pattern{"one-to-one", [](int from, int to, int) { return from == 0 && to == 1; }},
    Pattern{"one-to-all", [](int from, int, int) { return from == 0; }},
    Pattern{"all-to-one", [](int, int to, int) { return to == 0; }},
    Pattern{"all-to-all", [](int, int, int) { return true; }},
    Pattern{"fixed-target", [](int from, int to, int ranks) { return to == (from + 1) % ranks; }},
};

}  // namespace

std::vector<std::string> pattern_names() {
  std::vector<std::string> names;
  for (const auto& pattern : kPatterns) names.emplace_back(pattern.name);
  return names;
}

Connections connections_of(const std::string& name, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  Connections connections(n, std::vector<std::uint8_t>(n));
  std::string known;
  for (const auto& pattern : kPatterns) {
    known += (known.empty() ? "" : ", ") + std::string(pattern.name);
    if (pattern.name != name) continue;
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        const bool sends = ranks == 1 || (from != to && pattern.sends(from, to, ranks));
        connections[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = sends ? 1 : 0;
      }
    }
    return connections;
  }
  throw std::invalid_argument("unknown pattern '" + name + "'; known are: " + known);
}

double rate_per_rank(const Connections& connections, double bytes, double seconds) {
  std::size_t senders = 0;
  std::size_t receivers = 0;
  for (std::size_t r = 0; r < connections.size(); ++r) {
    senders += std::ranges::count(connections[r], 1) != 0 ? 1U : 0U;
    receivers += std::ranges::any_of(connections, [&](const auto& targets) { return targets[r] != 0; }) ? 1U : 0U;
  }
  return seconds > 0 ? bytes / (seconds * 1e6) / static_cast<double>(std::min(senders, receivers)) : 0;
}

}  // namespace eventloom
