#include "io/csv/csv_reader.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/message_limit.hpp"
#include "io/csv/channel_names.hpp"
#include "io/csv/csv_columns.hpp"
#include "io/csv/csv_payload.hpp"
#include "io/csv/csv_time.hpp"
#include "io/csv/table_rows.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_head.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/recorded/channel_words.hpp"
#include "io/recorded/clocks_by_channel.hpp"
#include "io/recorded/numbered_times.hpp"
#include "io/recorded/time_pair.hpp"

namespace eventloom {

namespace {

class CsvReader final : public HitReader {
 public:
  CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_file(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return times_.first().turns().if_any(); }
  [[nodiscard]] std::optional<double> share_read() const override { return rows_.lines().share_read(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return times_.first().raw_clock(); }
  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts;
    counts.counters[Metric::clock_turns] = times_.first().turns().turns();
    counts.counters[Metric::bad_records] = bad_.count();
    return counts;
  }

 private:
  bool read_row(HitBlock& block);
  void add_hit(HitBlock& block);
  [[nodiscard]] std::optional<Tick> time(const CsvTime::Fields& fields, std::uint32_t channel);
  [[nodiscard]] std::uint32_t channel(std::string_view text) const;
  void mark_turns();
  void lose_row(DropCause cause, HitBlock& block) const;
  void lose_line(const BadLine& line, HitBlock& block);
  void lose_rest(const std::string& why, std::uint32_t hits, HitBlock& block);
  void report_names() const;
  void note_leap_second(const HitBlock& block);
  [[noreturn]] void reject(std::string_view text, const std::string& expected) const;

  std::string name_;
  StreamHeader header_;
  CsvColumns columns_;
  CsvPayload payload_;
  ClocksByChannel<CsvTime> times_;
  ChannelNames names_;
  TableRows rows_;
  bool skip_bad_;     ///< bad lines are losses; without the key, the first one is an error
  MessageLimit bad_;  ///< lines skipped
  bool reports_names_ = false;
  bool reported_bad_ = false;
  bool reported_commas_ = false;
  bool any_row_ = false;  ///< a row has been read
  std::uint64_t untimed_ = 0;
  bool broken_off_ = false;
  std::optional<std::pair<Tick, Tick>> span_;  ///< first and last time so far, if times are UTC
};

ChannelNames names_of(const SourceUri& uri, const CsvColumns& columns, bool is_followed) {
  auto names = ChannelNames::of(uri, columns);
  if ((is_followed || uri.has("concat")) && names.any() && !uri.has("channels")) {
    uri.refuse(
        "channels are words, which are numbered when all are known: give channels=FILE.csv to follow or join files");
  }
  return names;
}

/// Whether a table has no rows, and thus no channels, and is not followed.
bool is_empty(const SourceUri& uri, const CsvColumns& columns) {
  return !uri.has("follow") && !TableRows(uri.path(), columns).next_intact();
}

CsvReader::CsvReader(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed)
    : name_(uri.path()),
      columns_(find_columns(uri)),
      payload_(uri, columns_),
      times_(uri, [&](const SourceUri& of_unit) { return CsvTime(of_unit, columns_.unit, base.tick_ps); }),
      names_(names_of(uri, columns_, followed != nullptr)),
      rows_(uri.path(), columns_, std::move(followed)),
      skip_bad_(uri.get_yes("skip-bad")) {
  require_words(uri.path(), columns_);
  header_ = {.source = id.value, .base = base, .payload = {}, .text = uri.text(), .flags = flags_of_columns(uri)};
  set_payload(header_, payload_.columns());
  reports_names_ = names_.any() && !uri.has("channels");
  if (!names_.any() && is_empty(uri, columns_)) header_.text += no_channels();
  if (names_.any())
    header_.text += reports_names_ ? numbered_words(names_.list()) : "\nChannels: " + names_.list() + ".\n";
}

bool CsvReader::read(HitBlock& block) {
  block.clear();
  constexpr std::size_t kMostRows = 4 * kBlockHits;
  bool goes_on = true;
  for (std::size_t n = 0; goes_on && n < kMostRows && block.size() < kBlockHits; ++n) {
    goes_on = read_row(block);
  }
  const bool pauses = rows_.awaits_line();
  if (times_.first().is_utc() && block.size() != 0) note_leap_second(block);
  const bool any = goes_on || block.size() != 0 || !block.losses.empty() || pauses;
  if (!any && bad_.exceeded() && !std::exchange(reported_bad_, true)) {
    log::error("{}: {} lines in all are skipped", name_, bad_.count());
  }
  if (any && std::exchange(reports_names_, false)) report_names();
  if (rows_.has_commas() && !std::exchange(reported_commas_, true))
    log::info("{}: numbers have decimal commas: 12,5 is 12.5", name_);
  if (!any && untimed_ != 0) {
    log::error("{}: {} hits come before tick 0 with this origin: they are dropped (untimed)", name_, untimed_);
    untimed_ = 0;
  }
  return any;
}

/// Returns false at the end, and where a followed file may continue.
bool CsvReader::read_row(HitBlock& block) {
  try {
    if (!rows_.next()) {
      if (!rows_.lines().failure().empty()) lose_rest(rows_.lines().failure(), 0, block);
      return false;
    }
    if (rows_.is_left_out()) {
      lose_row(DropCause::cut, block);
    } else if (rows_.is_whole() && rows_.marks_turn()) {
      mark_turns();
    } else if (rows_.is_whole()) {
      add_hit(block);
    } else {
      lose_rest("the last line has no line end and may be cut: it is dropped; end it with a line break if it is whole",
                1, block);
    }
  } catch (const BadLine& line) {
    if (!skip_bad_ && any_row_) {
      throw UserError(std::string(line.what()) + "; with skip-bad=yes, such lines are counted as lost");
    }
    if (!skip_bad_) throw;
    lose_line(line, block);
  }
  return true;
}

/// Warns once, when the times read so far lie on both sides of a leap second.
void CsvReader::note_leap_second(const HitBlock& block) {
  const auto [first, last] = std::ranges::minmax(block.time);
  const auto before = span_.value_or(std::pair(first, first));
  span_ = {std::min(before.first, first), std::max(before.second, last)};
  const auto known = times_.first().leap_second_between(before.first, before.second);
  const auto found = times_.first().leap_second_between(span_->first, span_->second);
  if (known || !found) return;
  log::warn(
      "{}: the times cross the leap second {}, which UTC does not count: those after it are 1 s closer to those "
      "before it than they were",
      name_, *found);
}

void CsvReader::report_names() const {
  constexpr std::size_t kShown = 200;
  const auto list = names_.list();
  log::info("{}: channels are numbered by name: {}; channels=FILE numbers those of several files alike", name_,
            list.size() <= kShown ? list : list.substr(0, kShown) + "...");
}

void CsvReader::add_hit(HitBlock& block) {
  const auto number = columns_.fixed_channel ? *columns_.fixed_channel : channel(rows_.field(columns_.channel));
  const auto coarse = columns_.coarse == 0 ? std::string_view() : rows_.field(columns_.coarse);
  const auto tick = time({rows_.field(columns_.time), coarse}, number);
  const std::size_t words = block.payload.size();
  try {
    for (std::size_t i = 0; i < columns_.payload.size(); ++i) {
      const auto text = rows_.value(columns_.payload[i]);
      if (!payload_.append(text, i, block.payload)) reject(text, payload_.expected(text, i));
    }
  } catch (const BadLine&) {
    block.payload.resize(words);
    throw;
  }
  any_row_ = true;
  if (!tick) {
    block.payload.resize(words);
    ++untimed_;
    return lose_row(DropCause::untimed, block);
  }
  block.time.push_back(*tick);
  block.channel.push_back(number);
}

/// The row's time is the number of turns.
void CsvReader::mark_turns() {
  const auto text = rows_.field(columns_.time);
  const auto turns = parse_whole(text, std::numeric_limits<std::uint64_t>::max());
  if (!turns) reject(text, "a number of turns, as a row of overflow= has in place of its time");
  times_.first().turns().mark_turns(*turns);
}

void CsvReader::lose_row(DropCause cause, HitBlock& block) const {
  join_loss(block, {.before = block.size(), .offset = rows_.lines().line_offset(), .hits = 1, .cause = cause});
}

void CsvReader::lose_line(const BadLine& line, HitBlock& block) {
  if (bad_.admit()) {
    log::error("{}: the line is skipped{}", line.what(), bad_.at_last("; further ones are only counted"));
  }
  add_loss(block, {.before = block.size(), .offset = rows_.lines().line_offset(), .hits = 1});
}

/// Reports the loss of the rest once: if reading fails inside a line, that line has already been reported.
void CsvReader::lose_rest(const std::string& why, std::uint32_t hits, HitBlock& block) {
  if (std::exchange(broken_off_, true)) return;
  const auto& lines = rows_.lines();
  log::error("{}: {}", lines.place(), lines.failure().empty() ? why : lines.failure());
  block.losses.push_back({.before = block.size(), .offset = lines.line_offset(), .hits = hits, .breaks_off = true});
}

std::uint32_t CsvReader::channel(std::string_view text) const {
  const auto number = names_.number(text);
  if (!number) reject(text, names_.expected(text));
  return *number;
}

std::optional<Tick> CsvReader::time(const CsvTime::Fields& fields, std::uint32_t channel) {
  auto* const clock = times_.of(channel);
  if (clock == nullptr) reject(std::to_string(channel), "a channel with a unit in unit=");
  try {
    return clock->ticks(fields, channel);
  } catch (const std::invalid_argument& e) {
    throw BadLine(rows_.lines().place() + ": " + e.what());
  } catch (const UserError& e) {
    throw UserError(rows_.lines().place() + ": " + e.what());
  }
}

void CsvReader::reject(std::string_view text, const std::string& expected) const {
  constexpr std::size_t kShown = 40;
  throw BadLine(rows_.lines().place() + ": '" + std::string(text.substr(0, kShown)) + "' is not " + expected);
}

/// Whether the beginning of a table has two complete lines that are not comments: one of them may be the header.
bool has_whole_row(const std::vector<std::byte>& head) {
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  int lines = 0;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (end != 0 && text.front() != '#' && text.front() != '\r') ++lines;
    text.remove_prefix(end + 1);
  }
  return lines >= 2;
}

}  // namespace

std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed) {
  return std::make_unique<CsvReader>(with_numbers(with_time_pair(uri)), id, base, std::move(followed));
}

/// An error may be due to a line that is still being written, unless another line follows: then the caller must see it.
bool can_open_csv(const SourceUri& uri) {
  try {
    const auto columns = find_columns(with_time_pair(uri));
    TableRows rows(uri.path(), columns);
    return rows.next() && rows.lines().is_ended();
  } catch (const UserError&) {
    return has_whole_row(file_head(uri.path()));
  }
}

}  // namespace eventloom
