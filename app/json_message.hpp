#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace eventloom {

/// What ranks tell each other as JSON, for Communicator: strings keep their bytes, whatever these are. File names need
/// not be UTF-8, and JSON's text would refuse them.
inline std::string to_message(const nlohmann::json& json) {
  std::string message;
  nlohmann::json::to_msgpack(json, message);
  return message;
}
inline nlohmann::json from_message(const std::string& message) { return nlohmann::json::from_msgpack(message); }

}  // namespace eventloom
