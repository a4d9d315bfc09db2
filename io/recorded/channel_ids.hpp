#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/recorded/payload_bits.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts the numbers in a column of channels: to themselves, or to channels by a table of names and channels, a pair
/// a line, with or without a header. Names that are whole numbers, such as 0x1a2b3c4d5e6f, stand for the ids of 64 bits
/// that they spell.
class ChannelIds {
 public:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

  /// No table.
  ChannelIds() = default;
  /// Reads the table that the key `channels` names, if there is one. Throws UserError when the file cannot be read or
  /// is not such a table.
  static ChannelIds of(const SourceUri& uri);

  [[nodiscard]] bool has_table() const { return !numbers_.empty(); }
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  /// The channel of a number; std::nullopt if the table has none for it and it is not a channel itself, or there is no
  /// whole number.
  [[nodiscard]] std::optional<std::uint32_t> channel(std::optional<WideWhole> number) const;
  /// Describes for messages what a number without a channel should be, and the fix.
  [[nodiscard]] std::string expected() const;

 private:
  explicit ChannelIds(const std::string& path);

  Numbers numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
};

/// Parses a whole number from 0, decimal or hexadecimal after 0x; also one in floating point, as numpy writes it:
/// 1.000e+00. std::nullopt for other text, or if it is above `most`.
std::optional<std::uint64_t> parse_whole(std::string_view text, std::uint64_t most);

}  // namespace eventloom
