#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Channels by name: a table of names and channels, a pair a line, with or without a header. Names that are whole
/// numbers, such as 0x1a2b3c4d5e6f, also stand for the ids of 64 bits that they spell.
class ChannelIds {
 public:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

  /// Reads the file of the key `channels`; std::nullopt without the key. Throws UserError when the file cannot be read
  /// or is not such a table.
  static std::optional<ChannelIds> of(const SourceUri& uri);

  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  /// The channel of an id; std::nullopt if the table has none for it and it is not a channel itself.
  [[nodiscard]] std::optional<std::uint32_t> channel(std::uint64_t id) const;

 private:
  explicit ChannelIds(const std::string& path);

  Numbers numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
};

/// Parses a whole number from 0, decimal or hexadecimal after 0x; also one in floating point, as numpy writes it:
/// 1.000e+00. std::nullopt for other text, or if it is above `most`.
std::optional<std::uint64_t> parse_whole(std::string_view text, std::uint64_t most);

}  // namespace eventloom
