#include "io/compass/compass_reader.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/runtime/log.hpp"
#include "io/compass/compass_binary.hpp"
#include "io/compass/compass_file.hpp"
#include "io/compass/compass_flags.hpp"
#include "io/compass/compass_text.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_head.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_end.hpp"
#include "io/recorded/stamp_clock.hpp"

namespace eventloom {

namespace {

/// The payload word of a calibrated energy, signed; std::nullopt if it does not fit.
std::optional<std::uint32_t> word_of_energy(double energy) {
  const double whole = std::round(energy);
  if (!(whole >= -0x1p31 && whole < 0x1p31)) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(whole));
}

std::vector<PayloadColumn> payload_of(const CompassFormat& format) {
  const PayloadColumn energy{"energy", PayloadKind::u32};
  const PayloadColumn calibrated{"calibrated_energy", PayloadKind::i32};
  std::vector<PayloadColumn> columns{format.energy ? energy : calibrated, {"flags", PayloadKind::u32}};
  if (format.energy_short) columns.push_back({"energy_short", PayloadKind::u32});
  if (format.energy && format.calibrated) columns.push_back(calibrated);
  return columns;
}

std::string describe(const CompassFormat& format) {
  std::string text = "A hit per CoMPASS event. Channel: board as subsystem, channel. Payload: ";
  text += format.energy ? "energy" : "calibrated energy, rounded";
  text += ", flags";
  if (format.energy_short) text += ", energy of the short gate";
  if (format.energy && format.calibrated) text += ", calibrated energy, rounded";
  return text + ".\n";
}

/// Opens a text file if the file begins with a line that names its columns, or the key `header` contains such a line.
std::unique_ptr<CompassFile> open_file(const SourceUri& uri, Followed followed) {
  const bool names_columns = CompassColumns::of_header(uri.get("header", "")).has_value();
  if (names_columns || begins_compass_text(file_head(uri.path()))) {
    return std::make_unique<CompassTextFile>(uri, std::move(followed));
  }
  return std::make_unique<CompassBinaryFile>(uri, std::move(followed));
}

class CompassReader final : public HitReader {
 public:
  CompassReader(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return clock_.turns().if_any(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return clock_.raw_clock(); }
  [[nodiscard]] std::optional<double> share_read() const override { return file_->file().share_read(); }
  /// An alarm indicates pulses that were lost or have a wrong time.
  [[nodiscard]] std::uint64_t anomalies() const override { return flags_.counters()[Metric::board_alarms]; }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void take(const CompassRecord& record, HitBlock& block);
  void add(const CompassRecord& record, HitBlock& block);
  void leave_out(HitBlock& block) const;
  void lose(const std::string& reason, HitBlock& block);
  void report_alarm(const char* alarm);
  void end(HitBlock& block);

  std::string name_;
  InputFile input_;
  StampClock clock_;
  std::unique_ptr<CompassFile> file_;
  CompassFlags flags_;
  DefectLog defect_log_;
  StreamHeader header_;
  Counters counters_{Metric::records, Metric::bad_records};
  bool reported_ = false;  ///< the remark on the file has been reported
  bool ended_ = false;
};

CompassReader::CompassReader(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      clock_(TickScale(uri, {1, 0}, base.tick_ps, Rounding::nearest), ClockTurns(uri)),
      file_(open_file(uri, std::move(followed))),
      flags_(uri),
      defect_log_(name_) {
  header_ = {.source = id.value, .base = base, .payload = {}, .text = uri.text() + "\n" + describe(file_->format())};
  set_payload(header_, payload_of(file_->format()));
}

bool CompassReader::read(HitBlock& block) {
  block.clear();
  if (const auto remark = file_->remark(); !std::exchange(reported_, true) && !remark.empty()) {
    log::info("{}: {}", name_, remark);
  }
  while (!ended_ && block.size() < kBlockHits && block.losses.size() < kBlockHits) {
    switch (file_->next()) {
      case CompassFile::Item::record:
        ++counters_[Metric::records];
        take(file_->record(), block);
        break;
      case CompassFile::Item::damage:
        ++counters_[Metric::records];
        lose(file_->defect(), block);
        break;
      case CompassFile::Item::pause: return true;
      case CompassFile::Item::end: end(block);
    }
  }
  return block.size() != 0 || !block.losses.empty();
}

void CompassReader::take(const CompassRecord& record, HitBlock& block) {
  flags_.count(record.flags);
  if (const auto* const alarm = CompassFlags::alarm(record.flags)) report_alarm(alarm);
  if (flags_.drops(record.flags)) return leave_out(block);
  add(record, block);
}

void CompassReader::add(const CompassRecord& record, HitBlock& block) {
  constexpr unsigned kSubsystemShift = 16;
  const auto& format = file_->format();
  const auto calibrated = format.calibrated ? word_of_energy(record.calibrated) : 0;
  if (record.board >= kMostCompassBoards) return lose(fmt::format("board {} is impossible", record.board), block);
  if (record.channel >= kMostCompassChannels) {
    return lose(fmt::format("channel {} is impossible", record.channel), block);
  }
  const auto channel = record.board << kSubsystemShift | record.channel;
  const auto time = clock_.ticks(record.time_ps, channel);
  if (!time) {
    const auto misfit = clock_.misfit(file_->place(), record.time_ps, channel);
    return lose(misfit.value_or("the time is impossible"), block);
  }
  if (!calibrated) return lose("the calibrated energy is impossible", block);
  block.time.push_back(*time);
  block.channel.push_back(channel);
  block.payload.push_back(format.energy ? record.energy : *calibrated);
  block.payload.push_back(record.flags);
  if (format.energy_short) block.payload.push_back(record.energy_short);
  if (format.energy && format.calibrated) block.payload.push_back(*calibrated);
}

/// Combines all records dropped before the same hit into one loss.
void CompassReader::leave_out(HitBlock& block) const {
  const bool joins = !block.losses.empty() && block.losses.back().before == block.size() &&
                     block.losses.back().cause == DropCause::flagged;
  if (joins) {
    ++block.losses.back().hits;
    return;
  }
  add_loss(block, {.before = block.size(), .offset = file_->file().offset(), .hits = 1, .cause = DropCause::flagged});
}

void CompassReader::lose(const std::string& reason, HitBlock& block) {
  ++counters_[Metric::bad_records];
  defect_log_.say(Defect::damage, [&] { return file_->place() + ": " + reason + ": the record is dropped"; });
  add_loss(block, {.before = block.size(), .offset = file_->file().offset(), .hits = 1});
}

void CompassReader::report_alarm(const char* alarm) {
  defect_log_.say(Defect::remark, [&] {
    return fmt::format("{}: an alarm of board {}: {}", file_->place(), file_->record().board, alarm);
  });
}

SourceCounts CompassReader::counts() const {
  auto all = counters_;
  all.add(flags_.counters());
  if (clock_.turns().any()) all.keep({{Metric::clock_turns, clock_.turns().turns()}});
  return {all, {}};
}

void CompassReader::end(HitBlock& block) {
  ended_ = true;
  report_end(file_->file(), file_->defect(), file_->defect().empty() ? 0 : 1, defect_log_, block);
}

}  // namespace

bool begins_compass_file(std::span<const std::byte> head) {
  return begins_compass_binary(head) || begins_compass_text(head);
}

std::unique_ptr<HitReader> open_compass(const SourceUri& uri, SourceId id, const TimeBase& base, Followed followed) {
  return std::make_unique<CompassReader>(uri, id, base, std::move(followed));
}

bool can_open_compass(const std::string& path) {
  const auto head = file_head(path);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.size() < 2) return false;
  // Two printable characters are neither a header nor the number of a board.
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  const bool is_text = begins_compass_text(head) || (is_printable(text[0]) && is_printable(text[1]));
  return !is_text || text.find('\n') != std::string_view::npos;
}

}  // namespace eventloom
