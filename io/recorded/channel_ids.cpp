#include "io/recorded/channel_ids.hpp"

#include <charconv>
#include <limits>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/line_reader.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

std::optional<std::uint64_t> parse_whole(std::string_view text, std::uint64_t most) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = text.substr(hex ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc() && end == digits.data() + digits.size()) {
    return value <= most ? std::optional(value) : std::nullopt;
  }
  const auto real = hex ? std::nullopt : parse_decimal(text);
  const auto whole = real ? to_ticks(*real, {1, 0}, 1, Rounding::none) : std::nullopt;
  return whole && whole->value <= most ? std::optional(whole->value) : std::nullopt;
}

ChannelIds ChannelIds::of(const SourceUri& uri) {
  return uri.has("channels") ? ChannelIds(uri.require("channels")) : ChannelIds();
}

ChannelIds::ChannelIds(const std::string& path) {
  (void)describe_file(path);  // a pipe would never end
  LineReader lines(path);
  FieldSplitter splitter;
  std::string_view line;
  while (lines.next(line)) {
    const auto text = without_blanks_around(line);
    if (text.empty() || text.front() == '#') continue;
    splitter.split(lines, line, 2);
    const auto& fields = splitter.fields();
    const auto number = fields.size() < 2 ? std::nullopt : parse_integer(fields[1], 0, kMaxChannel);
    if (!number && lines.line_number() == 1) continue;  // a header
    if (!number) throw UserError(lines.place() + ": expected a name and a channel from 0 to 0xfffffff");
    const auto channel = static_cast<std::uint32_t>(*number);
    const auto id = parse_whole(fields[0], std::numeric_limits<std::uint64_t>::max());
    const bool is_new = numbers_.emplace(fields[0], channel).second && (!id || by_id_.emplace(*id, channel).second);
    if (!is_new) throw UserError(lines.place() + ": '" + std::string(fields[0]) + "' was named before");
  }
  if (!lines.failure().empty()) throw UserError("cannot read '" + path + "': " + lines.failure());
  if (numbers_.empty()) throw UserError("'" + path + "' names no channel");
}

std::optional<std::uint32_t> ChannelIds::channel(std::optional<WideWhole> number) const {
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  const auto id = static_cast<std::uint64_t>(*number);
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  return id <= kMaxChannel ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
}

std::string ChannelIds::expected() const {
  return std::string("a channel: a whole number from 0 to 0xfffffff") +
         (has_table() ? ", or an id in the table of channels=" : "; channels=FILE gives larger ones channels");
}

}  // namespace eventloom
