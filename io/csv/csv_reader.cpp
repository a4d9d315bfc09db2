#include "io/csv/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/csv/line_reader.hpp"
#include "io/files/file_checksum.hpp"
#include "io/recorded/payload_columns.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMaxColumn = 10000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Splits lines into fields. The first line determines the separator: a tab, a semicolon, a comma, or else runs of
/// blanks.
class FieldSplitter {
 public:
  /// Puts the first fields of `line`, at most `limit`, into fields().
  void split(std::string_view line, std::size_t limit) {
    if (delimiter_ == '\0') choose(line);
    if (delimiter_ == ' ') line = trimmed(line);
    fields_.clear();
    while (fields_.size() < limit) {
      const auto end = delimiter_ == ' ' ? line.find_first_of(" \t") : line.find(delimiter_);
      fields_.push_back(trimmed(line.substr(0, end)));
      if (end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
      if (delimiter_ == ' ') line = trimmed(line);
    }
  }
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  void choose(std::string_view line) {
    delimiter_ = ' ';
    for (const char c : {',', ';', '\t'}) {
      if (line.find(c) != std::string_view::npos) delimiter_ = c;
    }
  }

  char delimiter_ = '\0';
  std::vector<std::string_view> fields_;
};

/// A decimal number, or a hexadecimal one behind 0x; nothing when it is neither or not in [low, high].
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (hex && text.starts_with('-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) return std::nullopt;
  return value;
}

class CsvReader final : public HitReader {
 public:
  CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;

 private:
  void add_hit(HitBlock& block) const;
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] Tick time(std::string_view text) const;
  [[noreturn]] void reject(std::string_view text, const std::string& expected) const;

  std::string name_;
  InputFile input_;
  StreamHeader header_;
  TickScale scale_;
  std::size_t time_column_;  ///< columns count from 1
  std::size_t channel_column_;
  std::vector<std::size_t> payload_columns_;
  std::size_t last_column_;  ///< last column that is used
  std::uint64_t skip_;
  LineReader lines_;
  FieldSplitter splitter_;
};

std::size_t column_of(const SourceUri& uri, std::string_view key) {
  (void)uri.require(key);
  return uri.get_count(key, 0, 1, kMaxColumn);
}

CsvReader::CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      scale_(uri, base.tick_ps),
      time_column_(column_of(uri, "time")),
      channel_column_(column_of(uri, "channel")),
      last_column_(std::max(time_column_, channel_column_)),
      skip_(uri.get_count("skip", 0, 0, kMaxPayload)),
      lines_(uri.path()) {
  for (const auto& text : payload_columns(uri)) {
    const auto column = parse_integer(text, 1, kMaxColumn);
    if (!column) {
      uri.refuse("payload=" + text + " is not the number of a column, from 1 to " + std::to_string(kMaxColumn));
    }
    payload_columns_.push_back(static_cast<std::size_t>(*column));
    last_column_ = std::max(last_column_, payload_columns_.back());
  }
  header_ = {id.value, base, PayloadTable::uniform(static_cast<std::uint8_t>(payload_columns_.size())), uri.text()};
}

bool CsvReader::read(HitBlock& block) {
  block.clear();
  std::string_view line;
  while (block.size() < kBlockHits && lines_.next(line)) {
    if (lines_.line_number() <= skip_) continue;
    const auto text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    splitter_.split(line, last_column_);
    add_hit(block);
  }
  return block.size() != 0;
}

void CsvReader::add_hit(HitBlock& block) const {
  block.time.push_back(time(field(time_column_)));
  const auto channel = parse_integer(field(channel_column_), 0, kMaxChannel);
  if (!channel) reject(field(channel_column_), "a channel: a whole number from 0 to 0xfffffff, decimal or 0x...");
  block.channel.push_back(static_cast<std::uint32_t>(*channel));
  for (const auto column : payload_columns_) {
    const auto word = parse_integer(field(column), kMinPayload, kMaxPayload);
    if (!word) reject(field(column), "a payload word: a whole number of 32 bits");
    block.payload.push_back(static_cast<std::uint32_t>(*word));
  }
}

std::string_view CsvReader::field(std::size_t column) const {
  const auto& fields = splitter_.fields();
  if (column <= fields.size()) return fields[column - 1];
  throw UserError(lines_.place() + ": the line has no column " + std::to_string(column) + ", only " +
                  std::to_string(fields.size()));
}

Tick CsvReader::time(std::string_view text) const {
  const auto value = parse_decimal(text);
  if (!value) {
    reject(text, "a time: a decimal number, not negative, of at most 19 digits (skip= skips header lines)");
  }
  const auto ticks = scale_.ticks(*value);
  if (!ticks) throw UserError(lines_.place() + ": " + scale_.complaint(std::string(text)));
  return *ticks;
}

void CsvReader::reject(std::string_view text, const std::string& expected) const {
  constexpr std::size_t kShown = 40;
  throw UserError(lines_.place() + ": '" + std::string(text.substr(0, kShown)) + "' is not " + expected);
}

}  // namespace

std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base) {
  uri.accept_only({"time", "channel", "payload", "unit", "skip", "round", "reorder"});
  return std::make_unique<CsvReader>(uri, id, base);
}

}  // namespace eventloom
