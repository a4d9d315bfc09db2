#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "app/tools/plan/placement.hpp"

namespace eventloom {

inline std::string text_of(const PlanRequest& r) {
  return std::to_string(r.nodes) + " nodes, " + std::to_string(r.cores_per_node) + " cores, " +
         std::to_string(r.sources) + " sources, " + std::to_string(r.filters) + " filters, rate " +
         (r.hits_per_second ? std::to_string(*r.hits_per_second) : "unknown");
}

/// Small and large requests, even and odd ones, with and without a known rate.
inline std::vector<PlanRequest> many_requests() {
  std::vector<PlanRequest> out;
  for (const std::uint32_t nodes : {1, 2, 3, 4, 7, 16}) {
    for (const std::uint32_t cores : {1, 2, 3, 4, 7, 8, 9, 64}) {
      for (const std::uint32_t sources : {1, 2, 3, 5, 8, 13, 32, 69, 500}) {
        for (const std::uint32_t filters : {0U, 1U, nodes}) {
          for (const std::optional<double> rate : {std::optional<double>(), std::optional(1e4), std::optional(2e8)}) {
            PlanRequest request;
            request.nodes = nodes;
            request.cores_per_node = cores;
            request.sources = sources;
            request.filters = filters;
            request.hits_per_second = rate;
            out.push_back(request);
          }
        }
      }
    }
  }
  return out;
}

}  // namespace eventloom
