#include "app/tools/plan/network.hpp"

#include <algorithm>
#include <vector>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr double kPicosecond = 1e-12;

/// Example: "12.5 GB/s (100 Gbit/s)".
std::string rate_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB/s ({:.4g} Gbit/s)", bytes * 1e-9, bytes * 8e-9);
  return fmt::format("{:.3g} MB/s ({:.4g} Mbit/s)", bytes * 1e-6, bytes * 8e-6);
}

double larger(const NetworkLoad& load) { return std::max(load.out, load.in); }

std::string needed_text(const NetworkAnswer& network) {
  if (!network.need) return "needed unknown without --hits-per-second";
  const auto& need = *network.need;
  const auto both = fmt::format("needed {} out of a node and {} into a node", rate_text(need.out), rate_text(need.in));
  return network.has_filters ? both + " (and the events for filters)" : both;
}

std::string available_text(const NetworkAnswer& network) {
  if (!network.available) return "available unknown: give --link RATE,LATENCY, or --simulate";
  if (!network.ideal) return "available " + rate_text(*network.available) + " by --link";
  return fmt::format("available {} as simulated, of {} that the links allow", rate_text(*network.available),
                     rate_text(*network.ideal));
}

std::string margin_text(const NetworkAnswer& network) {
  if (const auto margin = network.margin()) {
    const auto percent = fmt::format("margin {:.0f} %", 100 * *margin);
    return *margin < 0 ? percent + ": does not fit; use more nodes or faster links" : percent;
  }
  if (network.need) return "links of at least " + rate_text(larger(*network.need)) + " would do";
  if (network.available) {
    return fmt::format("margin unknown: enough for {:.3g} hits/s of each source",
                       *network.available / larger(network.of_a_hit));
  }
  return "margin unknown";
}

Json in_bytes_per_us(std::optional<double> rate) { return rate ? Json(*rate * 1e-6) : Json(); }

}  // namespace

NetworkLoad load_of_a_byte(const Placement& placement) {
  std::vector<double> sources(placement.nodes);
  std::vector<double> builders(placement.nodes);
  const auto& roles = placement.roles;
  for (std::uint32_t s = 0; s < roles.sources; ++s) {
    sources[placement.node_of(roles.rank_of(SourceId{static_cast<std::uint16_t>(s)}))] += 1;
  }
  for (std::uint32_t b = 0; b < roles.builders; ++b) {
    builders[placement.node_of(roles.rank_of(BuilderId{b}))] += 1.0 / roles.builders;
  }
  NetworkLoad load;
  for (std::uint32_t n = 0; n < placement.nodes; ++n) {
    load.out = std::max(load.out, sources[n] * (1 - builders[n]));
    load.in = std::max(load.in, (roles.sources - sources[n]) * builders[n]);
  }
  return load;
}

std::optional<double> NetworkAnswer::margin() const {
  if (!used || !need || !available) return std::nullopt;
  return (*available - larger(*need)) / *available;
}

NetworkAnswer network_of(const Plan& plan) {
  const auto& request = plan.request;
  NetworkAnswer network;
  network.used = plan.placement.nodes > 1;
  network.has_filters = plan.placement.roles.filters != 0;
  network.available = request.link_rate;
  if (request.simulated) {
    network.ideal = request.simulated->ideal_rate;
    network.available = *network.ideal * request.simulated->share;
  }
  const auto epochs = plan.choice.epochs_per_slice;
  auto of_a_hit = request;
  of_a_hit.hits_per_second = 1;
  const double seconds = static_cast<double>(epochs * request.epoch_ps) * kPicosecond;
  const double bytes = *buffer_bytes(of_a_hit, epochs) / seconds;
  const auto of_a_byte = load_of_a_byte(plan.placement);
  network.of_a_hit = {of_a_byte.out * bytes, of_a_byte.in * bytes};
  if (const auto hits = request.hits_per_second) {
    network.need = {network.of_a_hit.out * *hits, network.of_a_hit.in * *hits};
  }
  return network;
}

std::string network_text(const NetworkAnswer& network) {
  if (!network.used) return "network: not needed, all ranks are on one node";
  return "network: " + needed_text(network) + ", " + available_text(network) + ", " + margin_text(network);
}

Json network_json(const NetworkAnswer& network) {
  const auto margin = network.margin();
  Json json;
  json["used"] = network.used;
  json["needed_out_bytes_per_us"] = network.need ? Json(network.need->out * 1e-6) : Json();
  json["needed_in_bytes_per_us"] = network.need ? Json(network.need->in * 1e-6) : Json();
  json["available_bytes_per_us"] = in_bytes_per_us(network.available);
  json["ideal_bytes_per_us"] = in_bytes_per_us(network.ideal);
  json["margin"] = margin ? Json(*margin) : Json();
  json["fits"] = margin ? Json(*margin >= 0) : Json();
  return json;
}

}  // namespace eventloom
