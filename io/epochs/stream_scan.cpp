#include "io/epochs/stream_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

/// Buffers stand at multiples of this.
constexpr std::uint64_t kStep = 8;
constexpr Epoch kOpenEnd = std::numeric_limits<Epoch>::max();

class Scanner {
 public:
  Scanner(std::span<const std::byte> file, std::uint64_t begin) : file_(file), begin_(begin), at_(begin) {}

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
    std::ranges::sort(scan_.damage, {}, &Damage::first_epoch);
    return std::move(scan_);
  }

 private:
  /// The header at `offset` if its buffer is all there.
  [[nodiscard]] std::optional<EpochBufferHeader> buffer_at(std::uint64_t offset) const {
    const auto header = read_epoch_buffer_header(file_.subspan(offset));
    if (!header || header->stored_bytes() > file_.size() - offset) return std::nullopt;
    return header;
  }

  void take(const EpochBufferHeader& header) {
    if (header.sequence < next_sequence_) return take_late(header);
    if (header.sequence > next_sequence_) note_gap(header);
    next_sequence_ = header.sequence + 1;
    next_hits_before_ = header.hits_before + header.n_hits;
    if (header.first_epoch < end_epoch_) {
      drop(header, DropCause::out_of_order, "an epoch buffer starts before the end of the one before it");
      return;
    }
    scan_.entries.push_back(
        {at_, header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
    scan_.hits += header.n_hits;
    end_epoch_ = header.epochs().end;
  }

  /// Buffers with numbers from the next one on are not where they should be.
  void note_gap(const EpochBufferHeader& header) {
    const std::uint64_t lost = header.hits_before - std::min(header.hits_before, next_hits_before_);
    gaps_.push_back({next_sequence_, header.sequence, scan_.damage.size()});
    add_damage(end_epoch_, header.first_epoch, lost, DropCause::corrupt);
    problem("epoch buffers " + std::to_string(next_sequence_) + " to " + std::to_string(header.sequence - 1) +
            " with " + std::to_string(lost) + " hits are not here; expected number " + std::to_string(next_sequence_));
  }

  /// A number seen before: the same again, or one that was missing in front.
  void take_late(const EpochBufferHeader& header) {
    const auto gap = std::ranges::find_if(
        gaps_, [&](const Gap& g) { return g.begin <= header.sequence && header.sequence < g.end; });
    if (gap == gaps_.end()) {
      drop(header, DropCause::duplicate, "an epoch buffer that was there before");
      return;
    }
    // Its hits are counted with the gap already.
    scan_.damage[gap->damage].cause = DropCause::out_of_order;
    problem("epoch buffer " + std::to_string(header.sequence) + " comes after number " +
            std::to_string(next_sequence_ - 1));
    if (gap->end - gap->begin == 1) gaps_.erase(gap);
  }

  void drop(const EpochBufferHeader& header, DropCause cause, const std::string& text) {
    const Epoch end = cause == DropCause::duplicate ? header.first_epoch : header.epochs().end;
    add_damage(header.first_epoch, end, header.n_hits, cause);
    problem(text + " (epochs from " + std::to_string(header.first_epoch) + ", " + std::to_string(header.n_hits) +
            " hits)");
  }

  bool skip_to_next_buffer() {
    const std::uint64_t from = at_;
    for (std::uint64_t offset = from + kStep; offset < file_.size(); offset += kStep) {
      if (!buffer_at(offset)) continue;
      problem("the header of an epoch buffer is damaged; going on at offset " + std::to_string(offset));
      scan_.anomalies += 1;
      at_ = offset;
      return true;
    }
    return false;
  }

  /// Bytes to the end of the file that are no buffer: nobody knows how far the recording went on.
  void end_in_damage() {
    scan_.anomalies += 1;
    if (looks_like_index()) {
      problem("the index is damaged or cut off");
      return;
    }
    const auto header = read_epoch_buffer_header(file_.subspan(at_));
    if (header) {
      problem("the file ends in the middle of an epoch buffer of " + std::to_string(header->stored_bytes()) + " bytes");
      add_damage(header->first_epoch, kOpenEnd, header->n_hits, DropCause::corrupt);
    } else {
      problem("the file ends in " + std::to_string(file_.size() - at_) + " bytes that are no epoch buffer");
      add_damage(end_epoch_, kOpenEnd, 0, DropCause::corrupt);
    }
  }

  /// An index begins with the place of the first buffer.
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

  struct Gap {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t damage;  ///< index of its record
  };

  std::span<const std::byte> file_;
  std::uint64_t begin_;
  std::uint64_t at_;
  StreamScan scan_;
  std::vector<Gap> gaps_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_hits_before_ = 0;
  Epoch end_epoch_ = 0;
};

}  // namespace

StreamScan scan_stream(std::span<const std::byte> file, std::uint64_t begin) { return Scanner(file, begin).scan(); }

}  // namespace eventloom
