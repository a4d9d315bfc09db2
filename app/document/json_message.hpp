#pragma once

#include <string>
#include <vector>

#include "core/control/collective.hpp"
#include "core/runtime/json.hpp"

/// JSON messages between ranks. Strings are arbitrary bytes: JSON text requires UTF-8, but file names
/// may be other bytes.
namespace eventloom {

/// Collective. Returns the values of all ranks, by rank, on every rank.
inline std::vector<Json> all_gather_json(const Collective& ranks, const Json& mine) {
  std::vector<Json> all;
  for (const auto& message : ranks.all_gather(mine.to_msgpack())) {
    all.push_back(Json::from_msgpack(message));
  }
  return all;
}

/// Collective. Returns the value of rank 0 on every rank.
inline Json broadcast_json(const Collective& ranks, const Json& mine) {
  return Json::from_msgpack(ranks.broadcast(mine.to_msgpack()));
}

}  // namespace eventloom
