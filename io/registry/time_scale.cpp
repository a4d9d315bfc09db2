#include "io/registry/time_scale.hpp"

namespace eventloom {

bool counts_tai(const SourceUri& uri) {
  const bool list_mode = uri.scheme() == "lmd" || uri.scheme() == "mbs";
  return list_mode && uri.get("time", "") == "wr" && uri.get("unit", "ns") == "ns" && uri.get("offset", "").empty();
}

}  // namespace eventloom
