#include "io/compass/compass_reader.hpp"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "io/compass/compass_record.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_end.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/recorded/payload_columns.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

namespace {

/// Word of a calibrated energy; nothing when it is not one.
std::optional<std::uint32_t> word_of_energy(double energy) {
  const double whole = std::round(energy);
  if (!(whole >= static_cast<double>(kMinPayload) && whole <= static_cast<double>(kMaxPayload))) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(whole));
}

std::string describe(const CompassFormat& format) {
  std::string text = "A hit per CoMPASS event. Channel: board as subsystem, channel. Payload: ";
  text += format.energy ? "energy" : "calibrated energy, rounded";
  text += ", flags";
  if (format.energy_short) text += ", energy of the short gate";
  if (format.energy && format.calibrated) text += ", calibrated energy, rounded";
  return text + ".\n";
}

/// 0 when it is not such a number.
std::uint16_t hexadecimal(const std::string& text) {
  std::uint16_t value = 0;
  const char* const begin = text.data() + (text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  return error == std::errc() && stop == end ? value : 0;
}

class CompassReader final : public HitReader {
 public:
  CompassReader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override { return {counters_, {}}; }

 private:
  void read_format(const SourceUri& uri);
  [[nodiscard]] std::uint16_t first_two_bytes();
  bool read_record(HitBlock& block);
  void take(const CompassRecord& record, HitBlock& block);
  void count(std::uint32_t flags);
  void lose(const std::string& reason, HitBlock& block);
  void end(HitBlock& block);

  std::string name_;
  InputFile input_;
  TickScale scale_;
  FileReader file_;
  Complaints complaints_;
  CompassFormat format_;
  StreamHeader header_;
  Counters counters_{Metric::records, Metric::bad_records, Metric::fake_events, Metric::saturated_events,
                     Metric::pile_up_events};
  bool ended_ = false;
};

CompassReader::CompassReader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      scale_(uri, {1, 0}, base.tick_ps, Rounding::nearest),
      file_(uri.path()),
      complaints_(name_) {
  read_format(uri);
  header_ = {.source = id.value,
             .base = base,
             .payload = PayloadTable::uniform(static_cast<std::uint8_t>(format_.payload_words())),
             .text = uri.text() + "\n" + describe(format_)};
}

/// 0 of a shorter file.
std::uint16_t CompassReader::first_two_bytes() {
  std::uint16_t header = 0;
  const auto bytes = file_.front(sizeof header);
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// No record begins like a header: that would be an impossible board.
void CompassReader::read_format(const SourceUri& uri) {
  const auto key = uri.get("header", "");
  const auto own = first_two_bytes();
  const bool has_own = CompassFormat::of_header(own).has_value();
  const auto header = key.empty() ? own : hexadecimal(key);
  if (has_own && header != own) {
    uri.refuse(
        fmt::format("header={}, but the file begins with 0x{:04X}, a header of its own: omit header=", key, own));
  }
  if (has_own) file_.skip(sizeof own);
  if (key == "old") {
    format_ = CompassFormat::old();
    return;
  }
  const auto format = CompassFormat::of_header(header);
  if (!format && !key.empty()) uri.refuse("header=" + key + " is not known; use 0xCAE1 to 0xCAEF, or old");
  if (!format) {
    uri.refuse(
        "the file does not begin with the two bytes of CoMPASS, 0xCAEx: add ?header=old for files from before version "
        "2, or ?header=0xCAEx for a later file of a split run");
  }
  format_ = *format;
}

bool CompassReader::read(HitBlock& block) {
  block.clear();
  while (!ended_ && block.size() < kBlockHits && read_record(block)) {
  }
  return block.size() != 0 || !block.losses.empty();
}

/// False at the end.
bool CompassReader::read_record(HitBlock& block) {
  const std::size_t fixed = format_.fixed_bytes();
  const auto bytes = file_.front(fixed);
  if (bytes.size() < fixed) {
    end(block);
    return false;
  }
  const auto record = read_compass_record(format_, bytes);
  const std::uint64_t size = fixed + std::uint64_t{2} * record.samples;
  if (size > file_.left()) {
    end(block);
    return false;
  }
  ++counters_[Metric::records];
  take(record, block);
  file_.skip(size);
  return true;
}

void CompassReader::take(const CompassRecord& record, HitBlock& block) {
  constexpr unsigned kSubsystemShift = 16;
  const auto time = scale_.ticks(record.time_ps);
  const auto calibrated = format_.calibrated ? word_of_energy(record.calibrated) : 0;
  if (record.board >= kMostCompassBoards) return lose(fmt::format("board {} of a record", record.board), block);
  if (!time) return lose("the time of a record", block);
  if (!calibrated) return lose("the calibrated energy of a record", block);
  count(record.flags);
  block.time.push_back(*time);
  block.channel.push_back(std::uint32_t{record.board} << kSubsystemShift | record.channel);
  block.payload.push_back(format_.energy ? record.energy : *calibrated);
  block.payload.push_back(record.flags);
  if (format_.energy_short) block.payload.push_back(record.energy_short);
  if (format_.energy && format_.calibrated) block.payload.push_back(*calibrated);
}

void CompassReader::count(std::uint32_t flags) {
  if ((flags & kFake) != 0) ++counters_[Metric::fake_events];
  if ((flags & (kSaturatedGate | kSaturatedInput)) != 0) ++counters_[Metric::saturated_events];
  if ((flags & kPileUp) != 0) ++counters_[Metric::pile_up_events];
}

void CompassReader::lose(const std::string& reason, HitBlock& block) {
  ++counters_[Metric::bad_records];
  complaints_.say(Defect::damage, file_.offset(), [&] { return reason + " is impossible: the record is dropped"; });
  add_loss(block, {.before = block.size(), .offset = file_.offset(), .hits = 1});
}

void CompassReader::end(HitBlock& block) {
  ended_ = true;
  const bool cut = file_.left() != 0;
  const auto how = cut ? fmt::format("the file ends {} bytes into a record", file_.left()) : "";
  report_end(file_, how, cut ? 1 : 0, complaints_, block);
}

}  // namespace

std::unique_ptr<HitReader> open_compass(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<CompassReader>(uri, id, base);
}

nlohmann::ordered_json inspect_compass(const SourceUri& uri, std::uint64_t n_events,
                                       std::optional<std::uint64_t> tick_ps) {
  const auto reader = open_compass(uri, {0}, {.tick_ps = tick_ps.value_or(1)});
  return inspect_hits(*reader, "compass",
                      {{"tick_ps", reader->header().base.tick_ps}, {"contents", reader->header().text}}, n_events);
}

}  // namespace eventloom
