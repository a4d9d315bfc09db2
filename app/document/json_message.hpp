#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/control/collective.hpp"

/// JSON messages between ranks: strings are arbitrary bytes. File names need not be UTF-8, which JSON text requires.
namespace eventloom {

inline std::string to_message(const nlohmann::json& json) {
  std::string message;
  nlohmann::json::to_msgpack(json, message);
  return message;
}

/// Collective: the values of all ranks, by rank, on every rank.
inline std::vector<nlohmann::json> all_gather_json(const Collective& ranks, const nlohmann::json& mine) {
  std::vector<nlohmann::json> all;
  for (const auto& message : ranks.all_gather(to_message(mine))) {
    all.push_back(nlohmann::json::from_msgpack(message));
  }
  return all;
}

/// Collective: the value of rank 0, on every rank.
inline nlohmann::json broadcast_json(const Collective& ranks, const nlohmann::json& mine) {
  return nlohmann::json::from_msgpack(ranks.broadcast(to_message(mine)));
}

}  // namespace eventloom
