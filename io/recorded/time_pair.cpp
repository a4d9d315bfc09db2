#include "io/recorded/time_pair.hpp"

#include <string>

namespace eventloom {

SourceUri with_time_pair(const SourceUri& uri) {
  const auto text = uri.get("time", "");
  const auto minus = text.find('-');
  if (!uri.has("coarse-unit") || uri.has("coarse") || minus == std::string::npos || minus == 0) return uri;
  return uri.with("coarse", text.substr(0, minus)).with("time", text.substr(minus));
}

bool subtracts_time(const SourceUri& uri) { return uri.get("time", "").starts_with('-'); }

std::string time_column(const SourceUri& uri) {
  auto text = uri.get("time", "");
  if (!subtracts_time(uri)) return text;
  if (!uri.has("coarse"))
    uri.refuse("time=" + text + ": a time is subtracted from the steps of coarse=, which is missing");
  return text.substr(1);
}

}  // namespace eventloom
