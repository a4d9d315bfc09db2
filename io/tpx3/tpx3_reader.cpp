#include "io/tpx3/tpx3_reader.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/runtime/error.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_end.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/tpx3/tpx3_clock.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kPacketBytes = sizeof(std::uint64_t);
constexpr std::uint32_t kTdcSubsystem = 63;
constexpr const char* kTpx3Contents =
    "A hit per pixel: chip as subsystem, 256 * y + x; payload: ToT, 25 ns. A hit per TDC edge: subsystem 63, 4 * chip "
    "+ "
    "0, 1 (TDC1 rises, falls), 2, 3 (TDC2); payload: trigger count.\n";

std::uint64_t load_packet(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

class Tpx3Reader final : public HitReader {
 public:
  Tpx3Reader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override { return {counters_, {}}; }

 private:
  void set_clock();
  bool read_word(HitBlock& block);
  void open_chunk(Tpx3Packet header, HitBlock& block);
  void search_chunk(HitBlock& block);
  void take(Tpx3Packet packet, HitBlock& block);
  void take_pixel(Tpx3Packet packet, HitBlock& block);
  void take_tdc(Tpx3Packet packet, HitBlock& block);
  void put(std::int64_t time, std::uint32_t channel, std::uint32_t payload, HitBlock& block);
  void lose(const char* reason, HitBlock& block);
  void end(HitBlock& block);

  std::string name_;
  InputFile input_;
  TickScale scale_;
  FileReader file_;
  Complaints complaints_;
  StreamHeader header_;
  Tpx3Clock clock_;
  std::optional<std::uint64_t> global_low_;
  std::uint32_t chip_ = 0;
  std::uint32_t left_ = 0;  ///< packets of the chunk
  Counters counters_{Metric::packets, Metric::damaged_packets, Metric::damaged_headers, Metric::tdc_hits,
                     Metric::skipped_elements};
  bool ended_ = false;
};

Tpx3Reader::Tpx3Reader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      scale_(uri, {25000, 0}, base.tick_ps * kTpx3StepsPer25ns, Rounding::nearest),
      file_(uri.path()),
      complaints_(name_) {
  if (file_.size() != 0 && !is_tpx3_file(uri.path())) uri.refuse("the file does not begin with a TPX3 chunk");
  header_ = {
      .source = id.value, .base = base, .payload = PayloadTable::uniform(1), .text = uri.text() + "\n" + kTpx3Contents};
  set_clock();
}

/// By the global time, or else the first TDC edge, among the first packets.
void Tpx3Reader::set_clock() {
  constexpr std::size_t kSearched = std::size_t{1} << 20;
  FileReader file(name_);
  const auto bytes = file.front(kSearched);
  std::optional<std::int64_t> edge;
  std::optional<std::uint64_t> low;
  std::size_t left = 0;
  for (std::size_t at = 0; at + kPacketBytes <= bytes.size(); at += kPacketBytes) {
    const Tpx3Packet packet(load_packet(bytes.data() + at));
    if (left == 0) {
      if (!packet.is_header()) break;
      left = packet.chunk_bytes() / kPacketBytes;
      continue;
    }
    --left;
    const auto kind = packet.kind();
    if (kind == Tpx3Kind::tdc && !edge) edge = packet.tdc_time();
    if (kind == Tpx3Kind::global_low) low = packet.global_low();
    if (kind == Tpx3Kind::global_high && low) {
      return clock_.set(static_cast<std::int64_t>((packet.global_high() | *low) * kTpx3StepsPer25ns));
    }
  }
  if (edge) clock_.set(*edge);
}

bool Tpx3Reader::read(HitBlock& block) {
  block.clear();
  while (!ended_ && block.size() < kBlockHits && block.losses.size() < kBlockHits && read_word(block)) {
  }
  return block.size() != 0 || !block.losses.empty();
}

/// False at the end.
bool Tpx3Reader::read_word(HitBlock& block) {
  const auto bytes = file_.front(kPacketBytes);
  if (bytes.size() < kPacketBytes) {
    end(block);
    return false;
  }
  const Tpx3Packet packet(load_packet(bytes.data()));
  const bool inside = left_ != 0 && !(packet.kind() == Tpx3Kind::unknown && packet.is_header());
  if (inside) {
    --left_;
    take(packet, block);
    file_.skip(kPacketBytes);
  } else if (packet.is_header() && packet.chunk_bytes() % kPacketBytes == 0) {
    open_chunk(packet, block);
    file_.skip(kPacketBytes);
  } else {
    search_chunk(block);
  }
  return true;
}

void Tpx3Reader::open_chunk(Tpx3Packet header, HitBlock& block) {
  if (left_ != 0) {
    ++counters_[Metric::damaged_headers];
    complaints_.say(Defect::damage, file_.offset(),
                    [&] { return fmt::format("a chunk begins {} packets before the end of the previous one", left_); });
    add_loss(block, {.before = block.size(), .offset = file_.offset(), .leaves_hole = true});
  }
  chip_ = header.chip();
  left_ = header.chunk_bytes() / kPacketBytes;
}

/// Skips what is not a chunk, byte by byte: bytes may be missing.
void Tpx3Reader::search_chunk(HitBlock& block) {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  const auto from = file_.offset();
  std::uint32_t hits = 0;
  bool found = false;
  while (!found) {
    const auto bytes = file_.front(kStep);
    if (bytes.size() < kPacketBytes) {
      file_.skip(bytes.size());
      break;
    }
    std::size_t at = 0;
    for (; at + kPacketBytes <= bytes.size() && !found; ++at) {
      const Tpx3Packet packet(load_packet(bytes.data() + at));
      found = (at != 0 || file_.offset() != from) && packet.is_header() && packet.chunk_bytes() % kPacketBytes == 0;
      const bool whole = (file_.offset() + at - from) % kPacketBytes == 0;
      const auto kind = packet.kind();
      const bool hit = kind == Tpx3Kind::pixel || kind == Tpx3Kind::integrated || kind == Tpx3Kind::tdc;
      if (whole && hit && !found) ++hits;
    }
    file_.skip(found ? at - 1 : at);
  }
  left_ = 0;
  ++counters_[Metric::damaged_headers];
  complaints_.say(Defect::damage, from, [&] {
    return fmt::format("expected a chunk; {} bytes are skipped, with about {} hits", file_.offset() - from, hits);
  });
  add_loss(block, {.before = block.size(), .offset = from, .hits = hits, .leaves_hole = true});
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
  if (packet.kind() == Tpx3Kind::global_high && global_low_) {
    clock_.heed(static_cast<std::int64_t>((packet.global_high() | *global_low_) * kTpx3StepsPer25ns));
  }
}

void Tpx3Reader::take_pixel(Tpx3Packet packet, HitBlock& block) {
  if (chip_ >= kTdcSubsystem) return lose("a pixel of a chip above 62", block);
  const auto time = clock_.extend(packet.pixel_time(), kTpx3PixelPeriod);
  put(time, chip_ << 16 | packet.y() << 8 | packet.x(), packet.tot(), block);
}

void Tpx3Reader::take_tdc(Tpx3Packet packet, HitBlock& block) {
  const auto edge = packet.edge();
  const auto time = packet.tdc_time();
  if (!edge) return lose("a TDC edge of unknown kind", block);
  if (!time) return lose("a TDC edge with a fine time above 12", block);
  ++counters_[Metric::tdc_hits];
  put(clock_.extend(*time, kTpx3TdcPeriod), kTdcSubsystem << 16 | chip_ << 2 | *edge, packet.trigger_count(), block);
}

void Tpx3Reader::put(std::int64_t time, std::uint32_t channel, std::uint32_t payload, HitBlock& block) {
  const auto tick = time < 0 ? std::nullopt : scale_.ticks(static_cast<std::uint64_t>(time));
  if (!tick) {
    add_loss(block, {.before = block.size(), .offset = file_.offset(), .hits = 1, .cause = DropCause::untimed});
    complaints_.say(Defect::number, file_.offset(), [] { return "a hit before tick 0 is dropped (untimed)"; });
    return;
  }
  block.time.push_back(*tick);
  block.channel.push_back(channel);
  block.payload.push_back(payload);
}

void Tpx3Reader::lose(const char* reason, HitBlock& block) {
  ++counters_[Metric::damaged_packets];
  complaints_.say(Defect::damage, file_.offset(), [&] { return std::string(reason) + " is dropped"; });
  add_loss(block, {.before = block.size(), .offset = file_.offset(), .hits = 1});
}

void Tpx3Reader::end(HitBlock& block) {
  ended_ = true;
  const bool cut = left_ != 0 || file_.left() != 0;
  const auto how = cut ? fmt::format("the file ends {} packets before the end of a chunk", left_) : "";
  report_end(file_, how, left_, complaints_, block);
}

}  // namespace

std::unique_ptr<HitReader> open_tpx3(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<Tpx3Reader>(uri, id, base);
}

nlohmann::ordered_json inspect_tpx3(const SourceUri& uri, std::uint64_t n_events,
                                    std::optional<std::uint64_t> tick_ps) {
  const auto reader = open_tpx3(uri, {0}, {.tick_ps = tick_ps.value_or(1)});
  return inspect_hits(*reader, "tpx3",
                      {{"tick_ps", reader->header().base.tick_ps}, {"contents", reader->header().text}}, n_events);
}

}  // namespace eventloom
