#include "io/csv/channel_names.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "io/csv/table_rows.hpp"
#include "io/files/line_reader.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

using ChannelNumbers = ChannelIds::Numbers;

/// Calls `take(line reader, field)` for the channel of each row, until it returns false. If bad lines are to be
/// skipped, passes over rows that have no time, so that their text names no channels.
template <class Take>
void for_each_channel(const SourceUri& uri, const CsvColumns& columns, Take take) {
  TableRows rows(uri.path(), columns);
  const bool skip_bad = uri.get_yes("skip-bad");
  while (rows.next_intact()) {
    if (!rows.is_whole()) continue;
    if (rows.fields().size() < std::max({columns.time, columns.coarse, columns.channel})) continue;  // reported later
    if (skip_bad && !rows.has_time()) continue;
    if (!take(rows.lines(), rows.field(columns.channel))) return;
  }
}

/// Whether the text is missing or a number of any kind, even if it is not a channel.
bool is_no_word(std::string_view text) {
  if (is_missing(text)) return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    return text.substr(2).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }
  if (text.empty()) return true;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = text.find_first_of("0123456789") != std::string_view::npos;  // not "inf"
  return digits && end == text.data() + text.size();
}

bool begins_with_word(const SourceUri& uri, const CsvColumns& columns) {
  bool word = false;
  for_each_channel(uri, columns, [&](const LineReader&, std::string_view field) {
    word = !is_no_word(field);
    return is_missing(field);
  });
  return word;
}

ChannelNumbers number_words(const SourceUri& uri, const CsvColumns& columns) {
  ChannelNumbers numbers;
  for_each_channel(uri, columns, [&](const LineReader& lines, std::string_view field) {
    if (is_no_word(field)) return true;  // reported when the row is read
    if (numbers.find(field) == numbers.end()) numbers.emplace(field, 0);
    if (numbers.size() <= ChannelNames::kMostNames) return true;
    throw UserError(lines.place() + ": the channels have more than " + std::to_string(ChannelNames::kMostNames) +
                    " names: is that their column?");
  });
  std::uint32_t next = 0;
  for (auto& [name, number] : numbers) number = next++;
  return numbers;
}

}  // namespace

ChannelNames ChannelNames::of(const SourceUri& uri, const CsvColumns& columns) {
  ChannelNames names;
  if (columns.fixed_channel) return names;
  names.ids_ = ChannelIds::of(uri);
  if (names.ids_.has_table()) {
    names.numbers_ = names.ids_.numbers();
  } else if (begins_with_word(uri, columns)) {
    names.numbers_ = number_words(uri, columns);
    names.words_alone_ = true;
  }
  return names;
}

std::optional<std::uint32_t> ChannelNames::number(std::string_view field) const {
  const auto found = numbers_.find(field);
  if (found != numbers_.end()) return found->second;
  const auto id = words_alone_ ? std::nullopt : parse_whole(field, std::numeric_limits<std::uint64_t>::max());
  return id ? ids_.channel(*id) : std::nullopt;
}

std::string ChannelNames::expected(std::string_view field) const {
  if (is_missing(field)) return "a channel: it is missing";
  if (words_alone_) return "a word, as the channel of the first row is; channels=FILE gives the words numbers";
  std::vector<std::string_view> names;
  for (const auto& [name, channel] : numbers_) names.push_back(name);
  return ids_.expected() + (any() ? did_you_mean(field, names) : ", and words, too");
}

std::string ChannelNames::list() const {
  std::string text;
  for (const auto& [name, number] : numbers_) {
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(number);
  }
  return text;
}

}  // namespace eventloom
