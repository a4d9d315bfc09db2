#include "app/tools/bench/scan_view.hpp"

#include <set>
#include <string>

#include "app/tools/bench/distribution_plots.hpp"

namespace eventloom {

namespace {

/// Whether the rings were read in several ways, so that each way needs separate lines.
bool by_reading(const Json& points) {
  std::set<std::string> ways;
  for (const auto& point : points) {
    if (point["part"] == "rings") ways.insert(Json{point["read"], point["access"]}.dump());
  }
  return ways.size() > 1;
}

std::string line_of(const Json& point, bool readings) {
  if (point["part"] == "memory") return "put, " + point["what"].get<std::string>() + " memory";
  if (point["part"] != "rings") return point["what"];
  const auto ring = "ring of " + point["queue"].dump();
  return readings ? ring + ", " + series_name(point, {"read", "access"}) : ring;
}

}  // namespace

std::vector<Plot> scan_plots(const Json& points) {
  Plot sizes{"Rate", "message (bytes)", "bytes/us", true, true, {}};
  Plot clients{"Clients of one server", "clients", "bytes/us", false, false, {}};
  const bool readings = by_reading(points);
  for (const auto& point : points) {
    const std::string part = point["part"];
    const auto rate = point.value("rate_bytes_per_us", Json());
    if (part == "clients") {
      add_to_series(clients, "together", point["clients"], rate);
      add_to_series(clients, "each", point["clients"], point["per_client_bytes_per_us"]);
    } else if (part != "breakdown" && part != "containers") {
      add_to_series(sizes, line_of(point, readings), point["message_bytes"], rate);
    }
  }
  std::vector<Plot> plots;
  if (!sizes.series.empty() || clients.series.empty()) plots.push_back(std::move(sizes));
  if (!clients.series.empty()) plots.push_back(std::move(clients));
  return plots;
}

}  // namespace eventloom
