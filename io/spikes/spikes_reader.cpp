#include "io/spikes/spikes_reader.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/message_limit.hpp"
#include "formats/spikes.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/file_end.hpp"

namespace eventloom {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr auto kLastTick = std::numeric_limits<Tick>::max().value;

/// Bounds a block that has only losses.
constexpr std::size_t kBlockLosses = 1024;
/// Every element of a spike file is a multiple of this size.
constexpr std::size_t kSearchStep = 4;

/// Converts times from one tick length to another.
class StepRatio {
 public:
  /// Throws UserError when the key `round` is not known.
  StepRatio(const SourceUri& uri, std::uint64_t from_ps, std::uint64_t to_ps)
      : from_ps_(from_ps),
        to_ps_(to_ps),
        multiply_(from_ps / std::gcd(from_ps, to_ps)),
        divide_(to_ps / std::gcd(from_ps, to_ps)) {
    const auto round = uri.get("round", "");
    nearest_ = round == "nearest";
    down_ = round == "down";
    if (round.empty() || nearest_ || down_) return;
    uri.refuse("round=" + round + " is not known; there are down and nearest");
  }

  /// Converts non-decreasing times. Returns false, and converts none, if the last one does not fit. Throws UserError if
  /// a time is not whole and must not be rounded.
  [[nodiscard]] bool convert(std::span<Tick> times, const std::string& path) const {
    if (times.empty() || (multiply_ == 1 && divide_ == 1)) return true;
    const Wide last = Wide{times.back().value} * multiply_;
    if (last / divide_ >= kLastTick) return false;
    if (divide_ == 1) {
      for (Tick& time : times) time = time * multiply_;
    } else if (last <= kLastTick) {
      divide<std::uint64_t>(times, path);
    } else {
      divide<Wide>(times, path);
    }
    return true;
  }

 private:
  /// `Number`: type that holds the products.
  template <class Number>
  void divide(std::span<Tick> times, const std::string& path) const {
    for (Tick& time : times) {
      const Number product = Number{time.value} * multiply_;
      const Number quotient = product / divide_;
      const Number rest = product - quotient * divide_;
      if (rest != 0 && !nearest_ && !down_) refuse(time, path);
      const bool up = nearest_ && rest >= divide_ - rest;
      time = Tick(static_cast<std::uint64_t>(quotient) + (up ? 1 : 0));
    }
  }
  [[noreturn]] void refuse(Tick time, const std::string& path) const {
    throw UserError(path + ": the time " + std::to_string(time.value) + " in ticks of " + std::to_string(from_ps_) +
                    " ps is not a whole number of ticks of " + std::to_string(to_ps_) +
                    " ps: choose a finer --tick, or add round=down or round=nearest to the source");
  }

  std::uint64_t from_ps_;
  std::uint64_t to_ps_;
  std::uint64_t multiply_;
  std::uint64_t divide_;
  bool nearest_ = false;
  bool down_ = false;
};

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
        ratio_(uri, file_header_.tick_ps, base.tick_ps),
        channel_base_(
            static_cast<std::uint32_t>(uri.get_count("label", file_header_.channel_base, 0, kMaxChannelBase))) {
    header_ = {.source = id.value, .base = base, .payload = {}, .text = uri.text()};
  }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void read_packet(HitBlock& block);
  void take(const SpikePacketHeader& packet, std::span<const std::byte> entries, HitBlock& block);
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
  StepRatio ratio_;
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
                    ratio_.convert(time.first(packet.n_spikes), name_);
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
  return {{{Metric::packets, packets_},
           {Metric::damaged_packets, seen_[kEntries].count() + seen_[kMisfit].count()},
           {Metric::damaged_headers, seen_[kHeader].count()},
           {Metric::sequence_gaps, seen_[kGap].count()},
           {Metric::missing_packets, missing_},
           {Metric::duplicate_packets, seen_[kDuplicate].count()},
           {Metric::late_packets, seen_[kLate].count()}},
          {}};
}

}  // namespace

std::unique_ptr<HitReader> open_spikes(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<SpikesReader>(uri, id, base);
}

}  // namespace eventloom
