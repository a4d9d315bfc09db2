#include "io/spikes/spikes_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/message_limit.hpp"
#include "formats/duration_text.hpp"
#include "formats/spikes.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/file_end.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

namespace {

/// Bounds a block that has only losses.
constexpr std::size_t kBlockLosses = 1024;
/// Every element of a spike file is a multiple of this size.
constexpr std::size_t kSearchStep = 4;

/// Follows the sequence numbers of the packets.
class PacketNumbers {
 public:
  enum class Place { next, gap, duplicate, late };

  Place place(std::uint64_t number) const {
    if (number >= next_) return number == next_ ? Place::next : Place::gap;
    return number >= gap_begin_ && number < gap_end_ ? Place::late : Place::duplicate;
  }
  /// How many numbers are missing before `number`, which is ahead.
  [[nodiscard]] std::uint64_t left_out(std::uint64_t number) const { return number - next_; }
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Accepts `number`; its successor is expected next.
  void pass(std::uint64_t number) {
    if (number > next_) {
      gap_begin_ = next_;
      gap_end_ = number;
    }
    next_ = number + 1;
  }

 private:
  std::uint64_t next_ = 0;
  std::uint64_t gap_begin_ = 0;  ///< start of the latest gap
  std::uint64_t gap_end_ = 0;
};

enum Kind : std::size_t { kHeader, kEntries, kMisfit, kGap, kDuplicate, kLate };
constexpr std::array<std::string_view, 6> kKindNames = {
    "damaged packet headers",     "packets with a wrong checksum", "packets against the format",
    "gaps in the packet numbers", "packets that were read before", "packets out of order"};

SpikeFileHeader read_file_header(FileReader& file) {
  try {
    const auto header = decode_spike_header(file.front(sizeof(SpikeFileHeader)));
    file.skip(sizeof header);
    return header;
  } catch (const std::runtime_error& e) {
    throw UserError("cannot read '" + file.path() + "': " + e.what());
  }
}

class SpikesReader final : public HitReader {
 public:
  SpikesReader(const SourceUri& uri, SourceId id, const TimeBase& base)
      : name_(uri.path()),
        input_(describe_file(uri.path())),
        file_(uri.path()),
        file_header_(read_file_header(file_)),
        scale_(uri, duration_text(1, file_header_.tick_ps), {{file_header_.tick_ps, 0}, 1}, base.tick_ps,
               Rounding::none),
        turns_(uri),
        channel_base_(
            static_cast<std::uint32_t>(uri.get_count("label", file_header_.channel_base, 0, kMaxChannelBase))) {
    header_ = {.source = id.value, .base = base, .payload = {}, .text = uri.text()};
  }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return turns_.if_any(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return scale_.raw_clock(0); }
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void read_packet(HitBlock& block);
  void take(const SpikePacketHeader& packet, std::span<const std::byte> entries, HitBlock& block);
  bool unwrap(std::span<Tick> times);
  bool convert(std::span<Tick> times) const;
  bool follow(const SpikePacketHeader& packet, HitBlock& block);
  void find_packet(HitBlock& block);
  void end(HitBlock& block);
  bool may_report(Kind kind) { return seen_[kind].admit(); }
  void report_totals() const;

  std::string name_;
  InputFile input_;
  FileReader file_;
  SpikeFileHeader file_header_;
  StreamHeader header_;
  TickScale scale_;
  ClockTurns turns_;
  std::uint32_t channel_base_;
  PacketNumbers numbers_;
  std::array<MessageLimit, kKindNames.size()> seen_{};
  std::uint64_t packets_ = 0;
  std::uint64_t missing_ = 0;
  bool hole_ = false;        ///< a damaged header precedes: numbers may be missing
  bool broken_off_ = false;  ///< the early end has been reported
  bool ended_ = false;
};

bool SpikesReader::read(HitBlock& block) {
  block.clear();
  while (!ended_ && block.size() < kBlockHits && block.losses.size() < kBlockLosses) {
    if (file_.left() == 0) {
      end(block);
    } else {
      read_packet(block);
    }
  }
  return block.size() != 0 || !block.losses.empty();
}

/// Reads one packet, or reports a loss in its place.
void SpikesReader::read_packet(HitBlock& block) {
  const auto at_front = file_.front(sizeof(SpikePacketHeader));
  if (at_front.size() < sizeof(SpikePacketHeader)) {
    if (at_front.empty()) return;
    log::error("{}: offset {}: the file ends inside a packet header", name_, file_.offset());
    block.losses.push_back({.before = block.size(), .offset = file_.offset(), .breaks_off = true});
    broken_off_ = true;
    return file_.skip(file_.left());
  }
  const auto packet = read_packet_header(at_front);
  if (!packet) return find_packet(block);
  const std::size_t stored = sizeof *packet + packet->entries_bytes();
  const auto bytes = file_.front(stored);
  if (bytes.size() < stored) {
    log::error("{}: offset {}: the file ends inside a packet of {} spikes", name_, file_.offset(), packet->n_spikes);
    block.losses.push_back(
        {.before = block.size(), .offset = file_.offset(), .hits = packet->n_spikes, .breaks_off = true});
    broken_off_ = true;
    return file_.skip(file_.left());
  }
  if (follow(*packet, block)) take(*packet, bytes.subspan(sizeof *packet), block);
  file_.skip(stored);
}

/// Decides by its number whether a packet is used.
bool SpikesReader::follow(const SpikePacketHeader& packet, HitBlock& block) {
  Loss loss{.before = block.size(), .offset = file_.offset(), .hits = packet.n_spikes};
  const auto place = numbers_.place(packet.sequence);
  if (place == PacketNumbers::Place::duplicate || place == PacketNumbers::Place::late) {
    const bool late = place == PacketNumbers::Place::late;
    if (may_report(late ? kLate : kDuplicate)) {
      log::error("{}: offset {}: packet {} of {} spikes {}, {} was expected: it is dropped", name_, file_.offset(),
                 packet.sequence, packet.n_spikes, late ? "comes too late" : "was read before", numbers_.next());
    }
    loss.cause = late ? DropCause::out_of_order : DropCause::duplicate;
    block.losses.push_back(loss);
    return false;
  }
  if (place == PacketNumbers::Place::gap) {
    missing_ += numbers_.left_out(packet.sequence);
    if (!hole_) {
      if (may_report(kGap)) {
        log::error("{}: offset {}: packet {} where {} was expected: those between are missing", name_, file_.offset(),
                   packet.sequence, numbers_.next());
      }
      loss.hits = 0;
      loss.leaves_hole = true;
      block.losses.push_back(loss);
    }
  }
  hole_ = false;
  numbers_.pass(packet.sequence);
  return true;
}

/// A packet is written in the turn in which it begins. Returns false if the counter does not have its first time, and
/// such packets are lost, or if the packet lasts for more turns than any would.
bool SpikesReader::unwrap(std::span<Tick> times) {
  constexpr std::uint64_t kMostHalfTurns = std::uint64_t{1} << 20;
  if (!turns_.any() || times.empty()) return true;
  const auto first = times.front().value;
  const auto begin = turns_.extend(first, channel_base_);
  if (!begin) {
    (void)turns_.misfit(fmt::format("'{}': offset {}", name_, file_.offset()), std::to_string(first), channel_base_);
    return false;
  }
  const auto period = turns_.extent()->period;
  if ((times.back().value - first) / (period / 2) > kMostHalfTurns) return false;
  auto at = *begin;
  for (Tick& time : times) {
    time += Tick(*begin - first);
    while (at < time.value) {  // a packet may last for several turns
      at += std::min(time.value - at, period / 2);
      (void)turns_.extend(at % period, channel_base_);
    }
  }
  return times.back() >= times.front();
}

/// Converts times that do not decrease to ticks of the run. Returns false, and converts none, if the last one does not
/// fit. Throws UserError if a time must not be rounded.
bool SpikesReader::convert(std::span<Tick> times) const {
  const auto factor = scale_.factor();
  if (times.empty() || factor == 1) return true;
  const auto last = times.back().value;
  if (!scale_.ticks(last) && !scale_.needs_rounding({last, 0})) return false;
  for (Tick& time : times) {
    if (factor != 0) {
      time = time * factor;
      continue;
    }
    const auto ticks = scale_.ticks(time.value);
    if (!ticks) throw UserError(name_ + ": " + scale_.defect(std::to_string(time.value)));
    time = *ticks;
  }
  return true;
}

void SpikesReader::take(const SpikePacketHeader& packet, std::span<const std::byte> entries, HitBlock& block) {
  const Loss loss{.before = block.size(), .offset = file_.offset(), .hits = packet.n_spikes, .leaves_hole = true};
  if (!entries_intact(packet, entries)) {
    if (may_report(kEntries)) {
      log::error("{}: offset {}: the checksum of packet {} is wrong: its {} spikes are dropped", name_, file_.offset(),
                 packet.sequence, packet.n_spikes);
    }
    block.losses.push_back(loss);
    return;
  }
  const std::size_t before = block.size();
  block.time.resize(before + packet.n_entries);
  block.channel.resize(before + packet.n_entries);
  const auto time = std::span(block.time).subspan(before);
  const bool good = decode_spikes(packet, entries, channel_base_, time, std::span(block.channel).subspan(before)) &&
                    unwrap(time.first(packet.n_spikes)) && convert(time.first(packet.n_spikes));
  block.truncate(before + (good ? packet.n_spikes : 0));
  if (good) {
    ++packets_;
    return;
  }
  if (may_report(kMisfit)) {
    log::error(
        "{}: offset {}: packet {} does not have the {} spikes it states, or has times beyond 2^64 ticks: it is dropped",
        name_, file_.offset(), packet.sequence, packet.n_spikes);
  }
  block.losses.push_back(loss);
}

/// Called when a header is missing: moves to the next header, or to the end.
void SpikesReader::find_packet(HitBlock& block) {
  const auto begin = file_.offset();
  bool found = false;
  file_.skip(kSearchStep);
  while (!found && file_.left() >= sizeof(SpikePacketHeader)) {
    const auto bytes = file_.front(sizeof(SpikePacketHeader));
    std::size_t at = 0;
    for (; !found && at + sizeof(SpikePacketHeader) <= bytes.size(); at += found ? 0 : kSearchStep) {
      std::uint32_t word;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      found = word == SpikePacketHeader::kMagic && read_packet_header(bytes.subspan(at)).has_value();
    }
    file_.skip(at);
  }
  if (!found) file_.skip(file_.left());
  if (may_report(kHeader)) {
    log::error("{}: offset {}: expected a packet header, which is damaged: {} bytes are skipped", name_, begin,
               file_.offset() - begin);
  }
  block.losses.push_back({.before = block.size(), .offset = begin, .leaves_hole = true, .breaks_off = !found});
  hole_ = true;
  broken_off_ = !found;
}

void SpikesReader::end(HitBlock& block) {
  ended_ = true;
  if (const auto defect = end_defect(file_); !defect.empty()) {
    log::error("{}: offset {}: {}", name_, file_.offset(), defect);
    if (!broken_off_) block.losses.push_back({.before = block.size(), .offset = file_.offset(), .breaks_off = true});
  }
  report_totals();
}

void SpikesReader::report_totals() const {
  for (std::size_t kind = 0; kind < seen_.size(); ++kind) {
    if (seen_[kind].exceeded()) log::error("{}: {} {} in all", name_, seen_[kind].count(), kKindNames[kind]);
  }
}

SourceCounts SpikesReader::counts() const {
  SourceCounts counts{{{Metric::packets, packets_},
                       {Metric::damaged_packets, seen_[kEntries].count() + seen_[kMisfit].count()},
                       {Metric::damaged_headers, seen_[kHeader].count()},
                       {Metric::sequence_gaps, seen_[kGap].count()},
                       {Metric::missing_packets, missing_},
                       {Metric::duplicate_packets, seen_[kDuplicate].count()},
                       {Metric::late_packets, seen_[kLate].count()}},
                      {}};
  counts.counters[Metric::clock_turns] = turns_.turns();
  return counts;
}

}  // namespace

std::unique_ptr<HitReader> open_spikes(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<SpikesReader>(uri, id, base);
}

}  // namespace eventloom
