#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/csv/csv_columns.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Numbers of channels that a table identifies by words.
class ChannelNames {
 public:
  static constexpr std::size_t kMostNames = 65536;

  /// No names: channels are numbers.
  ChannelNames() = default;
  /// Reads the names from the file given by the key `channels`: a table of names and numbers, with or without a header.
  /// If the key is missing and the channel in the first row is a word, numbers the words in the column from 0 in byte
  /// order; numbers in the column are then not channels. Throws UserError when either file cannot be read or used.
  static ChannelNames of(const SourceUri& uri, const CsvColumns& columns);

  [[nodiscard]] bool any() const { return !numbers_.empty(); }
  /// The channel of a field: by name, or as a number unless the names are words of the column.
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view field) const;
  /// States for messages what a field without a channel should be, and the fix.
  [[nodiscard]] std::string expected(std::string_view field) const;
  /// "a = 0, b = 1".
  [[nodiscard]] std::string list() const;

 private:
  ChannelIds::Numbers numbers_;
  ChannelIds ids_;
  bool words_alone_ = false;
};

}  // namespace eventloom
