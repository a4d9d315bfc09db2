#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/control/collective.hpp"

/// JSON messages between ranks. Strings are arbitrary bytes: JSON text requires UTF-8, but file names
/// may be other bytes.
namespace eventloom {

inline std::string to_message(const nlohmann::json& json) {
  std::string message;
  nlohmann::json::to_msgpack(json, message);
  return message;
}

/// Collective. Returns the values of all ranks, by rank, on every rank.
inline std::vector<nlohmann::json> all_gather_json(const Collective& ranks, const nlohmann::json& mine) {
  std::vector<nlohmann::json> all;
  for (const auto& message : ranks.all_gather(to_message(mine))) {
    all.push_back(nlohmann::json::from_msgpack(message));
  }
  return all;
}

/// Collective. Returns the value of rank 0 on every rank.
inline nlohmann::json broadcast_json(const Collective& ranks, const nlohmann::json& mine) {
  return nlohmann::json::from_msgpack(ranks.broadcast(to_message(mine)));
}

}  // namespace eventloom
