#include "app/document/clock_json.hpp"

namespace eventloom {

Json to_json(const std::vector<ClockQuality>& clocks) {
  auto json = Json::array();
  for (const auto& clock : clocks) {
    json.push_back({{"offset_ns", clock.offset_ns},
                    {"rate_ppm", clock.rate_ppm},
                    {"residual_ns", clock.residual_ns},
                    {"precision_ns", clock.precision_ns},
                    {"round_trips", clock.round_trips}});
  }
  return json;
}

}  // namespace eventloom
