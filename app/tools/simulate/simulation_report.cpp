#include "app/tools/simulate/simulation_report.hpp"

#include <string>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

Json spent_json(const SimulationResult& result) {
  Json spent;
  for (std::size_t i = 0; i < result.spent.size(); ++i) spent[std::string(kSpentNames[i])] = result.spent[i];
  return spent;
}

Json spread_json(const TimeSpread& times) {
  return {{"n", times.n},
          {"mean_us", times.mean * 1e6},
          {"sd_us", times.deviation * 1e6},
          {"min_us", times.min * 1e6},
          {"p99_us", times.p99 * 1e6},
          {"max_us", times.max * 1e6}};
}

Json pairs_json(const PairRates& rates) {
  return {{"patterns", rates.patterns},
          {"rate_bytes_per_us", rates.mean * 1e-6},
          {"slowest_bytes_per_us", rates.slowest * 1e-6},
          {"share", rates.mean / rates.alone},
          {"slowest_share", rates.slowest / rates.alone}};
}

}  // namespace

std::vector<BenchColumn> simulation_columns() {
  return {{"nodes", "nodes", "", 0},
          {"schedule", "schedule", "", 0},
          {"slot_us", "slot", "us", 1},
          {"message_bytes", "message", "bytes", 0},
          {"rate_bytes_per_us", "rate", "bytes/us", 0},
          {"ideal_bytes_per_us", "ideal", "bytes/us", 0},
          {"share", "share", "%", 1},
          {"/spent/network", "network", "%", 0},
          {"/spent/credits", "credits", "%", 0},
          {"/spent/slots", "slots", "%", 0},
          {"/spent/builders", "builders", "%", 0},
          {"/spent/idle", "idle", "%", 0},
          {"/transfers/mean_us", "transfer", "us", 1},
          {"/transfers/p99_us", "its p99", "us", 1},
          {"/arrivals/sd_us", "arrivals", "us", 1},
          {"/links/0/share", "hot link", "%", 0},
          {"/links/0/name", "its name", "", 0}};
}

Json point_json(const SimulationSettings& settings, const SimulationResult& result) {
  const double rate = result.rate(settings.nodes) * 1e-6;
  const double ideal = result.ideal_rate * 1e-6;
  Json links = Json::array();
  for (const auto& link : result.links) links.push_back({{"name", link.name}, {"share", link.share}});
  Json point{{"nodes", settings.nodes},
             {"ranks_per_node", settings.ranks_per_node},
             {"schedule", settings.schedule},
             {"message_bytes", settings.message_bytes},
             {"rate_bytes_per_us", rate},
             {"ideal_bytes_per_us", ideal},
             {"share", rate / ideal},
             {"seconds", result.seconds},
             {"messages", result.messages},
             {"bytes_sent", result.sent},
             {"bytes_delivered", result.delivered},
             {"bytes_over_network", result.over_network},
             {"transfers", spread_json(result.transfers)},
             {"arrivals", {{"sd_us", result.arrivals.deviation * 1e6}, {"span", spread_json(result.arrivals.span)}}},
             {"random_pairs", pairs_json(result.random_pairs)},
             {"spent", spent_json(result)},
             {"links", links}};
  if (result.slot_ns != 0) point["slot_us"] = static_cast<double>(result.slot_ns) / 1000;
  return point;
}

std::string pairs_line(std::uint32_t nodes, const PairRates& rates) {
  return fmt::format(
      "random pairs of {} nodes: {:.0f} % of what one alone gets, {:.0f} % where all wait for the slowest ({} "
      "patterns)",
      nodes, 100 * rates.mean / rates.alone, 100 * rates.slowest / rates.alone, rates.patterns);
}

}  // namespace eventloom
