#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace eventloom {

using AttributeValue = std::variant<std::uint64_t, std::vector<std::uint64_t>, std::string, std::vector<std::string>>;

}  // namespace eventloom
