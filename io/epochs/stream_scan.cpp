#include "io/epochs/stream_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

/// Alignment of buffers in the file.
constexpr std::uint64_t kStep = 8;
constexpr Epoch kOpenEnd = std::numeric_limits<Epoch>::max();

class Scanner {
 public:
  Scanner(std::span<const std::byte> file, std::uint64_t begin, const TimeBase& base)
      : file_(file), begin_(begin), at_(begin), max_epoch_(max_epoch(base.epoch_ticks)) {}

  StreamScan scan() {
    while (at_ < file_.size()) {
      const auto header = buffer_at(at_);
      if (header) {
        take(*header);
        at_ += header->stored_bytes();
      } else if (!skip_to_next_buffer()) {
        end_in_damage();
        break;
      }
    }
    place_untimed(kOpenEnd);
    std::ranges::sort(scan_.damage, {}, &Damage::first_epoch);
    return std::move(scan_);
  }

 private:
  /// Buffers that were missing when a later one appeared and have not been found since.
  struct Gap {
    std::uint64_t end = 0;   ///< number of the buffer after the gap
    std::size_t damage = 0;  ///< index of its Damage
  };
  /// Keyed by the number of the first missing buffer.
  using Gaps = std::map<std::uint64_t, Gap>;

  /// Buffers whose epochs have no ticks.
  struct Untimed {
    std::uint64_t offset = 0;  ///< offset of the first such buffer
    std::uint64_t hits = 0;
  };

  /// The header at `offset`, if the file contains its whole buffer.
  [[nodiscard]] std::optional<EpochBufferHeader> buffer_at(std::uint64_t offset) const {
    const auto header = read_epoch_buffer_header(file_.subspan(offset));
    if (!header || header->stored_bytes() > file_.size() - offset) return std::nullopt;
    return header;
  }

  void take(const EpochBufferHeader& header) {
    if (!has_time(header)) return take_untimed(header);
    if (header.sequence < next_sequence_) return take_late(header);
    place_untimed(header.first_epoch);
    if (header.sequence > next_sequence_) note_gap(header, header.first_epoch);
    count(header);
    if (header.first_epoch < end_epoch_) {
      drop(header, DropCause::out_of_order, "an epoch buffer starts before the previous one ends");
      return;
    }
    scan_.entries.push_back(
        {at_, header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
    scan_.hits += header.n_hits;
    end_epoch_ = header.epochs().end;
  }

  void count(const EpochBufferHeader& header) {
    next_sequence_ = header.sequence + 1;
    next_hits_before_ = header.hits_before + header.n_hits;
  }

  [[nodiscard]] bool has_time(const EpochBufferHeader& header) const { return header.epochs().end - 1 <= max_epoch_; }

  /// Takes a buffer without valid times; its hits lie between the neighbouring buffers.
  void take_untimed(const EpochBufferHeader& header) {
    if (!untimed_) untimed_ = {at_, 0};
    untimed_->hits += header.n_hits;
    // The stretch up to the next buffer is already damage.
    if (header.sequence > next_sequence_) note_gap(header, end_epoch_);
    if (header.sequence >= next_sequence_) count(header);
    problem("an epoch buffer extends to epoch " + std::to_string((header.epochs().end - 1).value) +
            ", but ticks fit 64 bits to " + std::to_string(max_epoch_.value) + " only; its " +
            std::to_string(header.n_hits) + " hits are lost");
  }

  void place_untimed(Epoch end) {
    if (!untimed_) return;
    add_damage(end_epoch_, end, untimed_->hits, DropCause::corrupt);
    scan_.damage.back().file_offset = untimed_->offset;
    untimed_.reset();
  }

  /// Records that buffers from the next number on are missing here: damage up to epoch `end`.
  void note_gap(const EpochBufferHeader& header, Epoch end) {
    const std::uint64_t lost = header.hits_before - std::min(header.hits_before, next_hits_before_);
    gaps_[next_sequence_] = {header.sequence, scan_.damage.size()};
    add_damage(end_epoch_, end, lost, DropCause::corrupt);
    problem("epoch buffers " + std::to_string(next_sequence_) + " to " + std::to_string(header.sequence - 1) +
            " with " + std::to_string(lost) + " hits are not here; expected number " + std::to_string(next_sequence_));
  }

  /// Takes a buffer with an earlier number: a duplicate, or a buffer that was missing.
  void take_late(const EpochBufferHeader& header) {
    const auto behind = gaps_.upper_bound(header.sequence);
    const auto found = behind == gaps_.begin() ? behind : std::prev(behind);
    if (found == behind || found->second.end <= header.sequence) {
      drop(header, DropCause::duplicate, "an epoch buffer that has been read before");
      return;
    }
    // Its hits are already counted with the gap.
    scan_.damage[found->second.damage].cause = DropCause::out_of_order;
    problem("epoch buffer " + std::to_string(header.sequence) + " comes after number " +
            std::to_string(next_sequence_ - 1));
    take_out(found, header.sequence);
  }

  void take_out(Gaps::iterator gap, std::uint64_t sequence) {
    const auto [begin, rest] = *gap;
    gaps_.erase(gap);
    if (begin < sequence) gaps_[begin] = {sequence, rest.damage};
    if (sequence + 1 < rest.end) gaps_[sequence + 1] = rest;
  }

  void drop(const EpochBufferHeader& header, DropCause cause, const std::string& text) {
    const Epoch end = cause == DropCause::duplicate ? header.first_epoch : header.epochs().end;
    add_damage(header.first_epoch, end, header.n_hits, cause);
    problem(text + " (epochs from " + std::to_string(header.first_epoch.value) + ", " + std::to_string(header.n_hits) +
            " hits)");
  }

  bool skip_to_next_buffer() {
    const std::uint64_t from = at_;
    for (std::uint64_t offset = from + kStep; offset < file_.size(); offset += kStep) {
      if (!buffer_at(offset)) continue;
      problem("the header of an epoch buffer is damaged; reading continues at offset " + std::to_string(offset));
      scan_.anomalies += 1;
      at_ = offset;
      return true;
    }
    return false;
  }

  /// Handles bytes at the end of the file that are not a buffer: the end of the recording is then unknown.
  void end_in_damage() {
    scan_.anomalies += 1;
    if (looks_like_index()) {
      problem("the index is damaged or cut off");
      return;
    }
    const auto header = read_epoch_buffer_header(file_.subspan(at_));
    if (header) {
      problem("the file ends in the middle of an epoch buffer of " + std::to_string(header->stored_bytes()) + " bytes");
      add_damage(has_time(*header) ? header->first_epoch : end_epoch_, kOpenEnd, header->n_hits, DropCause::corrupt);
    } else {
      problem("the file ends in " + std::to_string(file_.size() - at_) + " bytes that are not an epoch buffer");
      add_damage(end_epoch_, kOpenEnd, 0, DropCause::corrupt);
    }
  }

  /// An index begins with the offset of the first buffer.
  [[nodiscard]] bool looks_like_index() const {
    std::uint64_t first = 0;
    if (file_.size() - at_ < sizeof first) return false;
    std::memcpy(&first, file_.data() + at_, sizeof first);
    return first == begin_ || first == StreamFileTrailer::kMagic;
  }

  void add_damage(Epoch first, Epoch end, std::uint64_t hits, DropCause cause) {
    Damage damage;
    damage.first_epoch = first;
    damage.n_epochs = end > first ? end - first : 0;
    damage.file_offset = at_;
    damage.n_hits = static_cast<std::uint32_t>(std::min<std::uint64_t>(hits, 0xffffffffU));
    damage.cause = cause;
    scan_.damage.push_back(damage);
    scan_.hits += damage.n_hits;
  }

  void problem(std::string text) { scan_.problems.push_back({at_, std::move(text)}); }

  std::span<const std::byte> file_;
  std::uint64_t begin_;
  std::uint64_t at_;
  Epoch max_epoch_;
  StreamScan scan_;
  Gaps gaps_;
  std::optional<Untimed> untimed_;  ///< untimed buffers since the last buffer with a time
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_hits_before_ = 0;
  Epoch end_epoch_ = 0;
};

}  // namespace

StreamScan scan_stream(std::span<const std::byte> file, std::uint64_t begin, const TimeBase& base) {
  return Scanner(file, begin, base).scan();
}

}  // namespace eventloom
