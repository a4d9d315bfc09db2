#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/markers.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

inline constexpr std::uint32_t kMaxChannel = (1U << 28) - 1;
/// Range of numbers that can be converted to payload words; negative numbers keep their 32 bits.
inline constexpr std::int64_t kMinPayload = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kMaxPayload = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t kMaxPayloadWords = PayloadTable::kLengthInFirstWord - 1;

/// The columns that `payload=a,b,c` names; empty if the key is absent. Throws UserError for an empty name, or for more
/// columns than a hit can have words.
inline std::vector<std::string> payload_columns(const SourceUri& uri) {
  std::vector<std::string> columns;
  const auto list = uri.get("payload", "");
  for (std::size_t begin = 0; !list.empty() && begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    columns.push_back(list.substr(begin, end - begin));
    begin = end + 1;
    if (columns.back().empty()) throw UserError("source '" + uri.text() + "': payload= has an empty name");
  }
  if (columns.size() > kMaxPayloadWords) {
    throw UserError("source '" + uri.text() + "': payload= names more than " + std::to_string(kMaxPayloadWords) +
                    " columns");
  }
  return columns;
}

}  // namespace eventloom
