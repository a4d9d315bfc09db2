#include "io/tpx3/tpx3_reader.hpp"

#include <optional>

#include "core/runtime/format.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_sequence.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/tpx3/tpx3_clock.hpp"
#include "io/tpx3/tpx3_file.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kTdcSubsystem = 63;
constexpr std::uint64_t kMostTurns = 1'000'000;
constexpr const char* kTpx3Contents =
    "A hit per pixel: chip as subsystem, 256 * y + x; payload: ToT, 25 ns. A hit per TDC edge: subsystem 63, 4 * chip "
    "+ 0, 1 (TDC1 rises, falls), 2, 3 (TDC2); payload: trigger count.\n";

class Tpx3Reader final : public HitReader {
 public:
  Tpx3Reader(const SourceUri& uri, std::span<const std::string> paths, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return files_.input(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return files_.share_read(); }
  /// Number of places where times are guessed.
  [[nodiscard]] std::uint64_t anomalies() const override { return counters_[Metric::clock_guesses]; }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void begin_first_file(const SourceUri& uri);
  bool read_item(HitBlock& block);
  void open_next();
  void take(Tpx3Packet packet, HitBlock& block);
  void take_pixel(Tpx3Packet packet, HitBlock& block);
  void take_tdc(Tpx3Packet packet, HitBlock& block);
  void put(Tpx3Time time, std::uint32_t channel, std::uint32_t payload, HitBlock& block);
  void report(const Tpx3Clock::Placed& place);
  void lose(const char* reason, HitBlock& block, DropCause cause = DropCause::corrupt);
  void lose(const Tpx3Damage& damage, HitBlock& block);
  [[nodiscard]] DefectLog& defect_log() { return files_.file().defect_log(); }
  [[nodiscard]] std::uint64_t offset() const { return files_.file().offset(); }

  std::string name_;
  TickScale scale_;
  FileSequence<Tpx3File> files_;
  StreamHeader header_;
  Tpx3Clock clock_;
  std::optional<std::uint64_t> global_low_;
  Counters counters_{Metric::packets, Metric::damaged_packets, Metric::tdc_hits, Metric::skipped_elements};
  bool ended_ = false;
};

Tpx3Reader::Tpx3Reader(const SourceUri& uri, std::span<const std::string> paths, SourceId id, const TimeBase& base)
    : name_(uri.path()), scale_(uri, {25000, 0}, base.tick_ps * kTpx3StepsPer25ns, Rounding::nearest), files_(paths) {
  header_ = {.source = id.value,
             .base = base,
             .payload = PayloadTable::uniform(1),
             .text = uri.text() + "\n" + kTpx3Contents,
             .flags = kPixels};
  begin_first_file(uri);
}

void Tpx3Reader::begin_first_file(const SourceUri& uri) {
  const auto preview = preview_tpx3(files_.path(0));
  std::optional<std::uint64_t> turns;
  if (uri.has("turns")) turns = uri.get_count("turns", 0, 0, kMostTurns);
  if (turns && preview.global()) uri.refuse("the global times in the file say when it begins: omit turns=");
  clock_.begin_file(preview, turns);
}

bool Tpx3Reader::read(HitBlock& block) {
  block.clear();
  while (!ended_ && block.size() < kBlockHits && block.losses.size() < kBlockHits && read_item(block)) {
  }
  return block.size() != 0 || !block.losses.empty();
}

/// Returns false at the end.
bool Tpx3Reader::read_item(HitBlock& block) {
  switch (files_.file().next()) {
    case Tpx3File::Item::packet: take(files_.file().packet(), block); return true;
    case Tpx3File::Item::damage: lose(files_.file().damage(), block); return true;
    case Tpx3File::Item::end: break;
  }
  defect_log().sum_up();
  ended_ = files_.is_last();
  if (!ended_) open_next();
  return !ended_;
}

void Tpx3Reader::open_next() {
  counters_.add(files_.file().counters());
  files_.open_next();
  global_low_.reset();
  report(clock_.begin_file(preview_tpx3(files_.path(files_.number()))));
}

SourceCounts Tpx3Reader::counts() const {
  auto all = counters_;
  all.add(files_.file().counters());
  return {all, {}};
}

void Tpx3Reader::take(Tpx3Packet packet, HitBlock& block) {
  ++counters_[Metric::packets];
  switch (packet.kind()) {
    case Tpx3Kind::pixel:
    case Tpx3Kind::integrated: return take_pixel(packet, block);
    case Tpx3Kind::tdc: return take_tdc(packet, block);
    case Tpx3Kind::unknown: return lose("a packet of unknown type", block);
    default: ++counters_[Metric::skipped_elements];
  }
  if (packet.kind() == Tpx3Kind::global_low) global_low_ = packet.global_low();
  if (packet.kind() == Tpx3Kind::global_high && global_low_) report(clock_.heed(packet.global_time(*global_low_)));
}

void Tpx3Reader::take_pixel(Tpx3Packet packet, HitBlock& block) {
  const auto chip = files_.file().chip();
  if (chip >= kTdcSubsystem) return lose("a pixel of a chip above 62", block);
  put({packet.pixel_time(), kTpx3PixelPeriod}, chip << 16 | packet.y() << 8 | packet.x(), packet.tot(), block);
}

void Tpx3Reader::take_tdc(Tpx3Packet packet, HitBlock& block) {
  const auto edge = packet.edge();
  const auto time = packet.tdc_time();
  if (!edge) return lose("a TDC edge of unknown kind", block);
  if (!time) return lose("a TDC edge with a fine time above 12", block);
  ++counters_[Metric::tdc_hits];
  const auto channel = kTdcSubsystem << 16 | files_.file().chip() << 2 | *edge;
  put({*time, kTpx3TdcPeriod}, channel, packet.trigger_count(), block);
}

void Tpx3Reader::put(Tpx3Time time, std::uint32_t channel, std::uint32_t payload, HitBlock& block) {
  const auto place = clock_.extend(time, [this] { return files_.file().look_ahead(); });
  if (place.step == Tpx3Step::stray) {
    return lose("a time that is far from those of the packets around it", block, DropCause::out_of_step);
  }
  report(place);
  const auto tick = place.time < 0 ? std::nullopt : scale_.ticks(static_cast<std::uint64_t>(place.time));
  if (!tick) return lose("a hit before tick 0", block, DropCause::untimed);
  block.time.push_back(*tick);
  block.channel.push_back(channel);
  block.payload.push_back(payload);
}

/// Reports resets of the clock and guessed times.
void Tpx3Reader::report(const Tpx3Clock::Placed& place) {
  if (place.step == Tpx3Step::back) {
    ++counters_[Metric::clock_resets];
    defect_log().say(Defect::era, offset(), [&] {
      return fmt::format("the clock goes back from {:.6f} s to {:.6f} s: a reset, or another measurement",
                         tpx3_seconds(place.from), tpx3_seconds(place.time));
    });
  }
  if (place.step == Tpx3Step::guess) {
    ++counters_[Metric::clock_guesses];
    defect_log().say(Defect::number, offset(), [&] {
      return fmt::format(
          "the clock, which starts again every 26.8 s, is at {:.6f} s after {:.6f} s, if it went on: packets around "
          "this place may be whole periods away, or the clock was reset, which global times would show",
          tpx3_seconds(place.time), tpx3_seconds(place.from));
    });
  }
}

void Tpx3Reader::lose(const char* reason, HitBlock& block, DropCause cause) {
  if (cause == DropCause::corrupt) ++counters_[Metric::damaged_packets];
  defect_log().say(cause == DropCause::corrupt ? Defect::damage : Defect::number, offset(),
                   [&] { return fmt::format("{} is dropped", reason); });
  add_loss(block, {.before = block.size(), .offset = offset(), .hits = 1, .cause = cause});
}

void Tpx3Reader::lose(const Tpx3Damage& damage, HitBlock& block) {
  const bool rest = damage.rest && files_.is_last();
  add_loss(block,
           {.before = block.size(), .offset = offset(), .hits = damage.hits, .leaves_hole = !rest, .breaks_off = rest});
}

}  // namespace

std::unique_ptr<HitReader> open_tpx3(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                     const TimeBase& base) {
  return std::make_unique<Tpx3Reader>(uri, paths, id, base);
}

}  // namespace eventloom
