#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/markers.hpp"
#include "formats/stream_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

inline constexpr std::uint32_t kMaxChannel = (1U << 28) - 1;
inline constexpr std::size_t kMaxPayloadWords = PayloadTable::kLengthInFirstWord - 1;

/// The columns that `payload=a,b,c` names; empty if the key is absent. Throws UserError for an empty name, or for more
/// columns than a hit can have words.
inline std::vector<std::string> payload_columns(const SourceUri& uri) {
  auto columns = uri.get_list("payload");
  if (std::ranges::find(columns, "") != columns.end())
    throw UserError("source '" + uri.text() + "': payload= has an empty name");
  if (columns.size() > kMaxPayloadWords) {
    throw UserError("source '" + uri.text() + "': payload= names more than " + std::to_string(kMaxPayloadWords) +
                    " columns");
  }
  return columns;
}

/// A payload column as the key names it, with the kind that may follow: energy:f64.
struct PayloadKey {
  std::string name;
  std::optional<PayloadKind> kind;
};
inline std::vector<PayloadKey> payload_keys(const SourceUri& uri) {
  std::vector<PayloadKey> keys;
  for (auto& text : payload_columns(uri)) {
    const auto colon = text.rfind(':');
    const auto suffix = colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
    const auto* const kind = std::ranges::find(kPayloadKindNames, suffix);
    if (kind == kPayloadKindNames.end()) {
      keys.push_back({std::move(text), std::nullopt});
    } else {
      keys.push_back({text.substr(0, colon), static_cast<PayloadKind>(kind - kPayloadKindNames.begin())});
    }
  }
  return keys;
}

/// Throws UserError if a hit has more words than it can, or a column beyond the first kTypedColumns is not of u32.
inline void require_typed_columns(const SourceUri& uri, std::span<const PayloadColumn> columns) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    words += words_of(columns[i].kind);
    if (i < kTypedColumns || columns[i].kind == PayloadKind::u32) continue;
    throw UserError("source '" + uri.text() + "': '" + columns[i].name +
                    "' has numbers other than whole ones from 0: " + "only the first " + std::to_string(kTypedColumns) +
                    " payload columns may");
  }
  if (words <= kMaxPayloadWords) return;
  throw UserError("source '" + uri.text() + "': payload= has more than " + std::to_string(kMaxPayloadWords) +
                  " words of 32 bits");
}

}  // namespace eventloom
