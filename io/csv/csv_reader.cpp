#include "io/csv/csv_reader.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/csv/channel_names.hpp"
#include "io/csv/csv_columns.hpp"
#include "io/csv/csv_fields.hpp"
#include "io/csv/csv_payload.hpp"
#include "io/csv/csv_time.hpp"
#include "io/csv/line_reader.hpp"
#include "io/files/file_checksum.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/recorded/unread_columns.hpp"

namespace eventloom {

namespace {

class CsvReader final : public HitReader {
 public:
  CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return lines_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts;
    counts.counters[Metric::clock_turns] = time_.turns();
    return counts;
  }

 private:
  void add_hit(HitBlock& block);
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] std::optional<Tick> time(std::string_view text, std::uint32_t channel);
  [[nodiscard]] std::uint32_t channel(std::string_view text) const;
  void lose_untimed(HitBlock& block);
  void lose_rest(const std::string& why, std::uint32_t hits, HitBlock& block);
  void report_names() const;
  void note_leap_second(const HitBlock& block);
  [[noreturn]] void reject(std::string_view text, const std::string& expected) const;

  std::string name_;
  InputFile input_;
  StreamHeader header_;
  CsvColumns columns_;
  CsvPayload payload_;
  CsvTime time_;
  ChannelNames names_;
  std::size_t last_column_;  ///< the last column used
  LineReader lines_;
  FieldSplitter splitter_;
  bool tells_names_ = false;
  bool reported_unread_ = false;
  std::uint64_t untimed_ = 0;
  bool broken_off_ = false;
  std::optional<std::pair<Tick, Tick>> span_;  ///< first and last time so far, if times are UTC
};

CsvReader::CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      columns_(find_columns(uri)),
      payload_(uri, columns_),
      time_(uri, columns_.unit, base.tick_ps),
      names_(ChannelNames::of(uri, columns_)),
      last_column_(columns_.last()),
      lines_(uri.path()) {
  header_ = {.source = id.value, .base = base, .payload = {}, .text = uri.text()};
  set_payload(header_, payload_.columns());
  if (names_.any()) header_.text += "\nChannels: " + names_.list() + ".\n";
  tells_names_ = names_.any() && !uri.has("channels");
}

bool CsvReader::read(HitBlock& block) {
  block.clear();
  std::string_view line;
  while (block.size() < kBlockHits && lines_.next(line)) {
    if (lines_.line_number() <= columns_.lines_before) continue;
    const auto text = without_blanks_around(line);
    if (text.empty() || text.front() == '#') continue;
    if (splitter_.split_row(lines_, line, last_column_)) {
      add_hit(block);
    } else {
      lose_rest("the last line has no line end and may be cut: it is dropped; end it with a line break if it is whole",
                1, block);
    }
  }
  if (block.size() < kBlockHits && !lines_.failure().empty()) lose_rest(lines_.failure(), 0, block);
  if (time_.is_utc() && block.size() != 0) note_leap_second(block);
  const bool any = block.size() != 0 || !block.losses.empty();
  if (any && std::exchange(tells_names_, false)) report_names();
  if (any && !std::exchange(reported_unread_, true) && !columns_.unread.empty())
    spdlog::info("{}: {}", name_, unread_columns(columns_.unread));
  if (!any && untimed_ != 0) {
    spdlog::error("{}: {} hits come before tick 0 with this origin: they are dropped (untimed)", name_, untimed_);
    untimed_ = 0;
  }
  return any;
}

/// Warns once, when the times read so far lie on both sides of a leap second.
void CsvReader::note_leap_second(const HitBlock& block) {
  const auto [first, last] = std::ranges::minmax(block.time);
  const auto before = span_.value_or(std::pair(first, first));
  span_ = {std::min(before.first, first), std::max(before.second, last)};
  const auto told = time_.leap_second_between(before.first, before.second);
  const auto found = time_.leap_second_between(span_->first, span_->second);
  if (told || !found) return;
  spdlog::warn(
      "{}: the times cross the leap second {}, which UTC does not count: those after it are 1 s closer to those "
      "before it than they were",
      name_, *found);
}

void CsvReader::report_names() const {
  constexpr std::size_t kShown = 200;
  const auto list = names_.list();
  spdlog::info("{}: channels are numbered by name: {}; channels=FILE numbers those of several files alike", name_,
               list.size() <= kShown ? list : list.substr(0, kShown) + "...");
}

void CsvReader::add_hit(HitBlock& block) {
  const auto number = channel(field(columns_.channel));
  const auto tick = time(field(columns_.time), number);
  const std::size_t words = block.payload.size();
  for (std::size_t i = 0; i < columns_.payload.size(); ++i) {
    const auto text = field(columns_.payload[i]);
    if (!payload_.append(text, i, block.payload)) reject(text, payload_.expected(i));
  }
  if (!tick) {
    block.payload.resize(words);
    return lose_untimed(block);
  }
  block.time.push_back(*tick);
  block.channel.push_back(number);
}

void CsvReader::lose_untimed(HitBlock& block) {
  ++untimed_;
  const bool joins = !block.losses.empty() && block.losses.back().before == block.size();
  if (!joins) block.losses.push_back({.before = block.size(), .cause = DropCause::untimed});
  ++block.losses.back().hits;
}

/// Reports the loss of the rest once: if reading fails inside a line, that line has already been reported.
void CsvReader::lose_rest(const std::string& why, std::uint32_t hits, HitBlock& block) {
  if (std::exchange(broken_off_, true)) return;
  spdlog::error("{}: {}", lines_.place(), lines_.failure().empty() ? why : lines_.failure());
  block.losses.push_back({.before = block.size(), .offset = lines_.line_offset(), .hits = hits, .breaks_off = true});
}

std::uint32_t CsvReader::channel(std::string_view text) const {
  const auto number = names_.number(text);
  if (!number) reject(text, names_.expected(text));
  return *number;
}

std::string_view CsvReader::field(std::size_t column) const {
  const auto& fields = splitter_.fields();
  if (column <= fields.size()) return fields[column - 1];
  throw UserError(lines_.place() + ": the line has no column " + std::to_string(column) + ", only " +
                  std::to_string(fields.size()));
}

std::optional<Tick> CsvReader::time(std::string_view text, std::uint32_t channel) {
  try {
    return time_.ticks(text, channel);
  } catch (const std::invalid_argument& e) {
    throw UserError(lines_.place() + ": " + e.what());
  }
}

void CsvReader::reject(std::string_view text, const std::string& expected) const {
  constexpr std::size_t kShown = 40;
  throw UserError(lines_.place() + ": '" + std::string(text.substr(0, kShown)) + "' is not " + expected);
}

/// Shortens a long list to its first names and the number of the others.
std::vector<std::string> first_names(std::vector<std::string> names) {
  constexpr std::size_t kShown = 50;
  if (names.size() <= kShown) return names;
  const auto more = names.size() - kShown;
  names.resize(kShown);
  names.push_back("and " + std::to_string(more) + " more");
  return names;
}

}  // namespace

std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<CsvReader>(uri, id, base);
}

nlohmann::ordered_json inspect_csv(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto columns = find_columns(uri);
  const TimeBase base{.tick_ps = tick_ps.value_or(uri.get("unit", columns.unit) == "ps" ? 1 : 1000)};
  const auto reader = open_csv(uri, {0}, base);
  nlohmann::ordered_json header = {{"tick_ps", base.tick_ps},
                                   {"time_column", columns.time},
                                   {"channel_column", columns.channel},
                                   {"payload_columns", columns.payload}};
  const auto types = payload_type_names(reader->header());
  if (!types.empty()) header["payload_types"] = types;
  if (!columns.unread.empty()) header["columns_not_read"] = first_names(columns.unread);
  header["contents"] = reader->header().text;
  return inspect_hits(*reader, "csv", std::move(header), n_events);
}

}  // namespace eventloom
