#include "io/csv/channel_names.hpp"

#include "core/runtime/error.hpp"
#include "io/csv/csv_fields.hpp"
#include "io/csv/line_reader.hpp"
#include "io/files/file_checksum.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

using ChannelNumbers = std::map<std::string, std::uint32_t, std::less<>>;

ChannelNumbers read_channel_table(const std::string& path) {
  (void)describe_file(path);  // a pipe would never end
  ChannelNumbers numbers;
  LineReader lines(path);
  FieldSplitter splitter;
  std::string_view line;
  while (lines.next(line)) {
    const auto text = without_blanks_around(line);
    if (text.empty() || text.front() == '#') continue;
    splitter.split(line, 2);
    const auto& fields = splitter.fields();
    const auto number = fields.size() < 2 ? std::nullopt : parse_integer(fields[1], 0, kMaxChannel);
    if (!number && lines.line_number() == 1) continue;  // a header
    if (!number) throw UserError(lines.place() + ": expected a name and a channel from 0 to 0xfffffff");
    if (!numbers.emplace(fields[0], static_cast<std::uint32_t>(*number)).second) {
      throw UserError(lines.place() + ": '" + std::string(fields[0]) + "' was named before");
    }
  }
  if (numbers.empty()) throw UserError("'" + path + "' names no channel");
  return numbers;
}

/// Calls `take(line reader, field)` for the channel of each row, until it returns false.
template <class Take>
void for_each_channel(const SourceUri& uri, const CsvColumns& columns, Take take) {
  LineReader lines(uri.path());
  FieldSplitter splitter;
  std::string_view line;
  while (lines.next(line)) {
    const auto text = without_blanks_around(line);
    if (lines.line_number() <= columns.lines_before || text.empty() || text.front() == '#') continue;
    splitter.split(line, columns.last());
    const auto& fields = splitter.fields();
    if (fields.size() < columns.channel) continue;  // reading the row will complain
    if (!take(lines, fields[columns.channel - 1])) return;
  }
}

bool begins_with_word(const SourceUri& uri, const CsvColumns& columns) {
  bool word = false;
  for_each_channel(uri, columns, [&](const LineReader&, std::string_view field) {
    const bool number_like = field.empty() || field.front() == '-' || (field.front() >= '0' && field.front() <= '9');
    word = !number_like;
    return false;
  });
  return word;
}

ChannelNumbers number_words(const SourceUri& uri, const CsvColumns& columns) {
  ChannelNumbers numbers;
  for_each_channel(uri, columns, [&](const LineReader& lines, std::string_view field) {
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
  if (uri.has("channels")) {
    names.numbers_ = read_channel_table(uri.require("channels"));
  } else if (begins_with_word(uri, columns)) {
    names.numbers_ = number_words(uri, columns);
  }
  return names;
}

std::optional<std::uint32_t> ChannelNames::number(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::string ChannelNames::list() const {
  std::string text;
  for (const auto& [name, number] : numbers_) {
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(number);
  }
  return text;
}

}  // namespace eventloom
