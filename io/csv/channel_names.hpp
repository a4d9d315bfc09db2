#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "io/csv/csv_columns.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Numbers of channels that a table calls by words.
class ChannelNames {
 public:
  static constexpr std::size_t kMostNames = 65536;

  /// None: channels are numbers.
  ChannelNames() = default;
  /// Those in the file that the key `channels` names: a table of names and numbers, with or without a header. Without
  /// the key, and when the channel in the first row is a word, the words in the column, numbered from 0 in the order of
  /// their bytes; numbers among them are no channels. Throws UserError when either file cannot be read or used.
  static ChannelNames of(const SourceUri& uri, const CsvColumns& columns);

  [[nodiscard]] bool any() const { return !numbers_.empty(); }
  /// Of a field: by its name, or as it says unless the names are words of the column.
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view field) const;
  /// What a field without a number is not, and what to do.
  [[nodiscard]] std::string expected(std::string_view field) const;
  /// "a = 0, b = 1".
  [[nodiscard]] std::string list() const;

 private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  bool words_alone_ = false;
};

}  // namespace eventloom
