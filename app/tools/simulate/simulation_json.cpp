#include "app/tools/simulate/simulation_json.hpp"

namespace eventloom {

namespace {

Json to_json(const std::vector<OfNode>& all) {
  Json json = Json::array();
  for (const auto& of : all) json.push_back({of.node, of.factor});
  return json;
}

std::vector<OfNode> of_nodes(const Json& json) {
  std::vector<OfNode> all;
  for (const auto& of : json) all.push_back({of[0], of[1]});
  return all;
}

Json to_json(const std::vector<OfLink>& all) {
  Json json = Json::array();
  for (const auto& of : all) json.push_back({of.name, of.factor});
  return json;
}

std::vector<OfLink> of_links(const Json& json) {
  std::vector<OfLink> all;
  for (const auto& of : json) all.push_back({of[0], of[1]});
  return all;
}

Json to_json(const TimeSpread& spread) {
  return {spread.n, spread.mean, spread.deviation, spread.min, spread.p99, spread.max};
}

Json to_json(const PairRates& rates) { return {rates.patterns, rates.alone, rates.mean, rates.slowest}; }

PairRates pairs_in(const Json& json) { return {json[0], json[1], json[2], json[3]}; }

TimeSpread spread_in(const Json& json) { return {json[0], json[1], json[2], json[3], json[4], json[5]}; }

}  // namespace

Json to_json(const SimulationSettings& settings) {
  return {{"topology", settings.topology},
          {"link_rate", settings.link_rate},
          {"link_latency", settings.link_latency},
          {"streams", settings.streams},
          {"slow_links", to_json(settings.slow_links)},
          {"dead_links", settings.dead_links},
          {"nodes", settings.nodes},
          {"ranks_per_node", settings.ranks_per_node},
          {"schedule", settings.schedule},
          {"table_text", settings.table_text},
          {"slot_ns", settings.slot_ns},
          {"fit_slots", settings.fit_slots},
          {"ring_depth", settings.ring.depth},
          {"cell_bytes", settings.ring.cell_bytes},
          {"slices_in_flight", settings.slices_in_flight},
          {"transfers_in_flight", settings.transfers_in_flight},
          {"message_bytes", settings.message_bytes},
          {"spread", settings.spread},
          {"slices", settings.slices},
          {"build_rate", settings.build_rate},
          {"source_rate", settings.source_rate},
          {"message_cost", settings.message_cost},
          {"noise", settings.noise},
          {"jitter", settings.jitter},
          {"slow_builders", to_json(settings.slow_builders)},
          {"clock_drift", settings.clock_drift},
          {"clock_noise", settings.clock_noise},
          {"seed", settings.seed},
          {"pairs", settings.pairs},
          {"transfers", settings.transfers}};
}

SimulationSettings settings_of(const Json& json) {
  SimulationSettings settings;
  settings.topology = json.at("topology");
  settings.link_rate = json.at("link_rate");
  settings.link_latency = json.at("link_latency");
  settings.streams = json.at("streams");
  settings.slow_links = of_links(json.at("slow_links"));
  settings.dead_links = json.at("dead_links");
  settings.nodes = json.at("nodes");
  settings.ranks_per_node = json.at("ranks_per_node");
  settings.schedule = json.at("schedule");
  settings.table_text = json.at("table_text");
  settings.slot_ns = json.at("slot_ns");
  settings.fit_slots = json.at("fit_slots");
  settings.ring = {json.at("ring_depth"), json.at("cell_bytes")};
  settings.slices_in_flight = json.at("slices_in_flight");
  settings.transfers_in_flight = json.at("transfers_in_flight");
  settings.message_bytes = json.at("message_bytes");
  settings.spread = json.at("spread");
  settings.slices = json.at("slices");
  settings.build_rate = json.at("build_rate");
  settings.source_rate = json.at("source_rate");
  settings.message_cost = json.at("message_cost");
  settings.noise = json.at("noise");
  settings.jitter = json.at("jitter");
  settings.slow_builders = of_nodes(json.at("slow_builders"));
  settings.clock_drift = json.at("clock_drift");
  settings.clock_noise = json.at("clock_noise");
  settings.seed = json.at("seed");
  settings.pairs = json.at("pairs");
  settings.transfers = json.at("transfers");
  return settings;
}

Json to_json(const SimulationResult& result) {
  Json links = Json::array();
  for (const auto& link : result.links) links.push_back({link.name, link.share});
  Json pairs = Json::array();
  for (const auto& pair : result.pairs) pairs.push_back({pair.source, pair.builder, pair.sent, pair.delivered});
  Json log = Json::array();
  for (const auto& transfer : result.log)
    log.push_back({transfer.from, transfer.to, transfer.begin, transfer.end, transfer.bytes});
  return {{"slot_ns", result.slot_ns},
          {"seconds", result.seconds},
          {"messages", result.messages},
          {"sent", result.sent},
          {"delivered", result.delivered},
          {"over_network", result.over_network},
          {"ideal_rate", result.ideal_rate},
          {"random_pairs", to_json(result.random_pairs)},
          {"transfers", to_json(result.transfers)},
          {"arrival_deviation", result.arrivals.deviation},
          {"arrival_span", to_json(result.arrivals.span)},
          {"spent", result.spent},
          {"links", links},
          {"pairs", pairs},
          {"log", log}};
}

SimulationResult result_of(const Json& json) {
  SimulationResult result;
  result.slot_ns = json.at("slot_ns");
  result.seconds = json.at("seconds");
  result.messages = json.at("messages");
  result.sent = json.at("sent");
  result.delivered = json.at("delivered");
  result.over_network = json.at("over_network");
  result.ideal_rate = json.at("ideal_rate");
  result.random_pairs = pairs_in(json.at("random_pairs"));
  result.transfers = spread_in(json.at("transfers"));
  result.arrivals = {json.at("arrival_deviation"), spread_in(json.at("arrival_span"))};
  json.at("spent").get_to(result.spent);
  for (const auto& link : json.at("links")) result.links.push_back({link[0], link[1]});
  for (const auto& pair : json.at("pairs")) result.pairs.push_back({pair[0], pair[1], pair[2], pair[3]});
  for (const auto& transfer : json.at("log")) {
    result.log.push_back({transfer[0], transfer[1], transfer[2], transfer[3], transfer[4]});
  }
  return result;
}

Json to_json(const PlatformPhases& found) {
  return {{"ends", found.phases.ends},     {"steps_per_transfer", found.phases.steps_per_transfer},
          {"steps", found.phases.steps},   {"least", found.phases.least},
          {"begins", found.phases.begins}, {"bytes_ns", found.bytes_ns},
          {"step_ns", found.step_ns}};
}

PlatformPhases phases_of(const Json& json) {
  return {{json.at("ends"), json.at("steps_per_transfer"), json.at("steps"), json.at("least"), json.at("begins")},
          json.at("bytes_ns"),
          json.at("step_ns")};
}

}  // namespace eventloom
