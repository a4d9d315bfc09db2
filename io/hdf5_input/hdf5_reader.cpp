#include "io/hdf5_input/hdf5_reader.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/file_checksum.hpp"
#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/channel_column.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/payload_column.hpp"
#include "io/hdf5_input/row_selection.hpp"
#include "io/hdf5_input/time_column.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/fixed_channel.hpp"
#include "io/recorded/numbered_times.hpp"
#include "io/recorded/payload_columns.hpp"
#include "io/recorded/row_condition.hpp"
#include "io/recorded/time_pair.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kRowsPerBlock = 65536;

std::string time_dataset(const SourceUri& uri) { return uri.has("time") ? time_column(uri) : "time"; }

/// The path of a column of the source's group.
std::string column_path(const SourceUri& uri, const std::string& column) {
  const auto group = uri.get("group", "/");
  return group + (group.ends_with('/') ? "" : "/") + column;
}

class Hdf5Reader final : public HitReader {
 public:
  Hdf5Reader(const SourceUri& uri, SourceId id, const TimeBase& base)
      : path_(uri.path()),
        name_(uri.place("/")),
        times_(uri, column_path(uri, time_dataset(uri)), column_path(uri, uri.get("coarse", "")), base.tick_ps),
        fixed_channel_(fixed_channel(uri)),
        lost_(uri.get_yes("skip-bad")) {
    if (!fixed_channel_) channel_.emplace(uri, open_column(uri, uri.get("channel", "channel")));
    header_.source = id.value;
    header_.base = base;
    header_.text = uri.text();
    header_.flags = flags_of_columns(uri);
    open_payload(uri);
    for (auto& term : row_condition(uri)) {
      conditions_.emplace_back(open_column(uri, term.column(), ColumnReader::Holds::numbers_or_texts), term);
    }
    for (auto& term : turn_condition(uri)) {
      overflow_.emplace_back(open_column(uri, term.column(), ColumnReader::Holds::numbers_or_texts), term);
    }
    if (uri.has("overflow") && (uri.has("coarse") || times_.column().is_float()))
      uri.refuse("overflow= needs one dataset of whole numbers as times");
  }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_file(path_); }
  [[nodiscard]] ClockTurns* counter() override { return times_.turns().if_any(); }

  [[nodiscard]] std::optional<double> share_read() const override {
    return rows() == 0 ? 1 : static_cast<double>(row_) / static_cast<double>(rows());
  }

  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts;
    counts.counters[Metric::clock_turns] = times_.turns().turns();
    return counts;
  }

  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return times_.raw_clock(); }
  [[nodiscard]] Tick unordered_within() const override { return times_.longest_since_pulse(); }

  bool read(HitBlock& block) override {
    block.clear();
    causes_.clear();
    turns_.clear();
    const auto end = row_ + std::min<std::uint64_t>(kRowsPerBlock, rows() - row_);
    if (row_ >= end) {
      defect_log_.sum_up();
      times_.report_untimed(name_);
      return false;
    }
    if (!take(end, block)) {
      while (row_ < end) {  // rows in other pieces may be intact
        if (!take(std::min(end, piece_end()), block)) lose_rows(block);
      }
    }
    leave_out(block);
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t rows() const { return times_.column().size(); }
  /// It has one row per time.
  [[nodiscard]] ColumnReader open_column(const SourceUri& uri, const std::string& name,
                                         ColumnReader::Holds holds = ColumnReader::Holds::numbers) const {
    ColumnReader column(uri.path(), column_path(uri, name), holds);
    column.require_rows_of(times_.column());
    return column;
  }

  void open_payload(const SourceUri& uri) {
    std::vector<PayloadColumn> columns;
    for (const auto& [name, kind] : payload_keys(uri)) {
      payload_.emplace_back(open_column(uri, name), kind);
      columns.push_back({name, payload_.back().kind()});
      if (const auto n = payload_.back().unwritten(); n != 0)
        log::warn("'{}': {} rows were never written: they have no value", payload_.back().column().name(), n);
      words_ += words_of(columns.back().kind);
    }
    require_typed_columns(uri, columns);
    set_payload(header_, columns);
  }

  /// Removes the rows that mark turns.
  void leave_out_turns(HitBlock& block) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      if (!turns_[i]) causes_[kept++] = causes_[i];
    }
    causes_.resize(kept);
    leave_out_hits(block, turns_, std::nullopt);
  }

  /// Replaces the rows that make no hits by losses.
  void leave_out(HitBlock& block) {
    if (causes_.empty()) return;
    causes_.resize(block.size());
    turns_.resize(block.size());
    if (std::ranges::find(turns_, true) != turns_.end()) leave_out_turns(block);
    for (const auto cause : {DropCause::cut, DropCause::corrupt, DropCause::untimed}) {
      std::vector<bool> goes(causes_.size());
      for (std::size_t i = 0; i < causes_.size(); ++i) goes[i] = causes_[i] == cause;
      if (std::erase(causes_, cause) != 0) leave_out_hits(block, goes, cause);
    }
  }

  /// Appends the rows up to `end`; appends nothing and returns false when some cannot be read.
  bool take(std::uint64_t end, HitBlock& block) {
    const auto hits = block.size();
    try {
      append_rows(static_cast<std::size_t>(end - row_), block);
    } catch (const UnreadableRows& e) {
      failure_ = {e.what(), std::min(e.end(), rows())};
      block.time.resize(hits);
      block.channel.resize(hits);
      block.payload.resize(hits * words_);
      return false;
    }
    row_ = end;
    return true;
  }

  void append_rows(std::size_t n, HitBlock& block) {
    const auto hits = block.size();
    lost_.begin(row_, n);
    if (!overflow_.empty()) find_turns(n);
    for (auto& condition : conditions_) condition.read(row_, n, lost_);
    if (channel_) {
      channel_->read(row_, n, block.channel, lost_);
    } else {
      block.channel.resize(hits + n, *fixed_channel_);
    }
    times_.load(row_, n, lost_);
    block.payload.resize((hits + n) * words_);
    std::size_t word = hits * words_;
    for (auto& column : payload_) {
      column.read(row_, n, std::span(block.payload).subspan(word), words_, lost_);
      word += words_of(column.kind());
    }
    times_.read(std::span(block.channel).subspan(hits), block.time, lost_);
    if (!lost_.any()) return;
    lost_.report(defect_log_);
    causes_.resize(hits);
    causes_.insert(causes_.end(), lost_.causes().begin(), lost_.causes().end());
    turns_.resize(hits);
    turns_.insert(turns_.end(), lost_.turns().begin(), lost_.turns().end());
  }

  /// Finds the rows for which all terms of `overflow` hold. One without a value may have marked a turn and is lost.
  void find_turns(std::size_t n) {
    LostRows others(false);
    others.begin(row_, n);
    for (auto& term : overflow_) term.read(row_, n, others);
    for (std::size_t i = 0; i < n; ++i) {
      if (!others[i]) lost_.mark_turn(i);
      if (others[i] && *others.causes()[i] != DropCause::cut) lost_.mark(i, overflow_.front().column().name());
    }
  }

  [[nodiscard]] std::uint64_t piece_end() const {
    auto end = times_.piece_end(row_);
    if (channel_) end = std::min(end, channel_->column().piece_end(row_));
    for (const auto* terms : {&conditions_, &overflow_}) {
      for (const auto& term : *terms) end = std::min(end, term.column().piece_end(row_));
    }
    for (const auto& column : payload_) end = std::min(end, column.column().piece_end(row_));
    return end;
  }

  /// Records the unreadable rows up to the end of the piece as lost.
  void lose_rows(HitBlock& block) {
    const auto lost = failure_.end - row_;
    defect_log_.say(Defect::damage,
                    [&] { return fmt::format("rows {} to {} are lost: {}", row_, failure_.end - 1, failure_.reason); });
    Loss loss{.before = block.size(), .leaves_hole = true, .breaks_off = failure_.end == rows()};
    loss.hits = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, std::numeric_limits<std::uint32_t>::max()));
    add_loss(block, loss);
    row_ = failure_.end;
  }

  std::string path_;
  std::string name_;
  TimeColumn times_;
  std::optional<ChannelColumn> channel_;        ///< std::nullopt: all hits have the fixed channel
  std::optional<std::uint32_t> fixed_channel_;  ///< the key `fixed-channel`
  std::vector<Hdf5PayloadColumn> payload_;
  std::size_t words_ = 0;  ///< payload words of a hit
  StreamHeader header_;
  std::uint64_t row_ = 0;
  /// Why rows from row_ cannot be read, and where the next piece begins.
  struct Failure {
    std::string reason;
    std::uint64_t end = 0;
  } failure_;
  DefectLog defect_log_{name_};
  LostRows lost_;
  std::vector<RowSelection> conditions_;  ///< the key `where`
  std::vector<RowSelection> overflow_;    ///< the key `overflow`
  /// Why hits of the block are left out; empty when all stay.
  std::vector<std::optional<DropCause>> causes_;
  std::vector<bool> turns_;  ///< rows of the block that mark turns
};

}  // namespace

std::unique_ptr<HitReader> open_hdf5(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<Hdf5Reader>(with_numbers(with_time_pair(uri)), id, base);
}

std::vector<std::string> hdf5_columns(const SourceUri& given) {
  std::vector<std::string> columns;
  const auto uri = with_time_pair(given);
  const auto time = time_dataset(uri);
  for (auto& key : payload_keys(uri)) columns.push_back(std::move(key.name));
  if (!uri.has("fixed-channel")) columns.insert(columns.begin(), uri.get("channel", "channel"));
  columns.insert(columns.begin(), time);
  for (const auto& term : row_condition(uri)) columns.push_back(term.column());
  for (const auto& term : turn_condition(uri)) columns.push_back(term.column());
  if (auto coarse = uri.get("coarse", ""); !coarse.empty()) columns.push_back(std::move(coarse));
  for (auto& column : TimeColumn::companions(time)) columns.push_back(std::move(column));
  return columns;
}

}  // namespace eventloom
