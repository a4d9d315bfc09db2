#include "io/epochs/epochs_source.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/files/packing.hpp"

namespace eventloom {

namespace {

std::uint64_t stored_bytes(const IndexEntry& entry) {
  EpochBufferHeader header;
  header.n_words = entry.n_words;
  return header.stored_bytes();
}

/// Whether the entries tile the file from `begin` on in ascending epochs up to `last`, and hold as many hits as the
/// trailer states.
bool consistent(const IndexView& index, std::uint64_t begin, Epoch last) {
  Epoch next = 0;
  std::uint64_t hits = 0;
  for (const auto& entry : index.entries) {
    if (entry.offset != begin || entry.first_epoch < next || entry.n_epochs == 0) return false;
    if (entry.first_epoch > last || Epoch(entry.n_epochs - 1) > last - entry.first_epoch) return false;
    next = entry.epochs().end;
    hits += entry.n_hits;
    begin += stored_bytes(entry);
  }
  return begin == index.trailer.index_offset && hits == index.trailer.n_hits;
}

DecodedStreamHeader read_header(const std::string& path, std::span<const std::byte> bytes) {
  require_unpacked(path);
  try {
    return decode_stream_header(bytes);
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path + "': " + e.what());
  }
}

/// The defect of the buffer that should match `entry`; std::nullopt if it is intact.
std::optional<std::pair<DropCause, const char*>> defect_of(const std::optional<EpochBufferHeader>& header,
                                                           const IndexEntry& entry) {
  if (!header) return std::pair(DropCause::corrupt, "the header of an epoch buffer is damaged");
  if (header->stream_offset < entry.offset) {
    return std::pair(DropCause::duplicate, "a copy of an earlier epoch buffer is in place of another");
  }
  if (header->stream_offset > entry.offset) {
    return std::pair(DropCause::out_of_order, "a later epoch buffer is in place of another");
  }
  if (header->first_epoch != entry.first_epoch || header->n_epochs != entry.n_epochs ||
      header->n_words != entry.n_words || header->n_hits != entry.n_hits || header->words_crc != entry.words_crc) {
    return std::pair(DropCause::corrupt, "an epoch buffer is not the one that the index names");
  }
  return std::nullopt;
}

/// Reads a byte of each page, so that unreadable pages are detected now.
void touch(const std::vector<std::span<const std::byte>>& pieces) {
  constexpr std::size_t kPage = 4096;
  for (const auto& piece : pieces) {
    for (std::size_t at = 0; at < piece.size(); at += kPage) {
      static_cast<void>(*static_cast<const volatile std::byte*>(&piece[at]));
    }
    if (!piece.empty()) static_cast<void>(*static_cast<const volatile std::byte*>(&piece.back()));
  }
}

}  // namespace

EpochsSource::EpochsSource(const std::string& path) : path_(path), file_(path) {
  auto decoded = read_header(path, file_.bytes());
  header_ = std::move(decoded.header);
  first_buffer_ = decoded.first_buffer_offset;
  if (first_buffer_ > file_.bytes().size()) throw UserError("'" + path + "': the file ends in its header");
  if (!use_index()) scan();
  file_.release_all();
}

bool EpochsSource::use_index() {
  bool damaged = false;
  const auto index = find_index(file_.bytes(), damaged);
  index_state_ = damaged ? IndexState::damaged : IndexState::missing;
  if (!index) return false;
  if (!consistent(*index, first_buffer_, max_epoch(header_.base.epoch_ticks))) {
    index_state_ = IndexState::damaged;
    return false;
  }
  index_state_ = IndexState::good;
  entries_ = index->entries;
  hits_ = index->trailer.n_hits;
  if (entries_.empty()) return true;
  first_epoch_ = entries_.front().first_epoch;
  end_epoch_ = entries_.back().epochs().end;
  return true;
}

void EpochsSource::scan() {
  auto scan = scan_stream(file_.bytes(), first_buffer_, header_.base);
  scanned_ = std::move(scan.entries);
  entries_ = scanned_;
  damage_ = std::move(scan.damage);
  hits_ = scan.hits;
  anomalies_ = scan.anomalies;
  for (const auto& problem : scan.problems) report(problem.offset, problem.text);
  if (scan.problems.empty()) {
    spdlog::warn("{}: no index, the recording was not closed; {} epoch buffers found by scanning", path_,
                 entries_.size());
  }
  if (!entries_.empty()) {
    first_epoch_ = entries_.front().first_epoch;
    end_epoch_ = entries_.back().epochs().end;
  }
  for (const auto& damage : damage_) {
    count_lost(damage);
    const bool first = end_epoch_ == 0;
    first_epoch_ = first ? damage.first_epoch : std::min(first_epoch_, damage.first_epoch);
    const bool open = damage.first_epoch + damage.n_epochs == std::numeric_limits<Epoch>::max();
    if (open) tail_damage_ = damage;
    end_epoch_ = std::max(end_epoch_, damage.first_epoch + (open ? 1 : std::max<Epoch>(damage.n_epochs, 1)));
  }
}

InputFile EpochsSource::input() const {
  const auto header = file_.bytes().first(first_buffer_);
  return {path_, file_.bytes().size(), crc32c(std::as_bytes(entries_), crc32c(header))};
}

std::optional<Epoch> EpochsSource::first_epoch() {
  if (end_epoch_ == 0) return std::nullopt;
  return first_epoch_;
}

std::size_t EpochsSource::first_entry_ending_after(Epoch epoch) const {
  const auto found =
      std::ranges::upper_bound(entries_, epoch, {}, [](const IndexEntry& entry) { return entry.epochs().end; });
  return static_cast<std::size_t>(found - entries_.begin());
}

void EpochsSource::collect(EpochRange epochs, SliceData& out) {
  if (!gave_up_) {
    const auto last_buffer = collect_buffers(epochs, out);
    touch(out.pieces);
    if (file_.lost()) {
      out.clear();
      give_up(epochs);
    } else if (last_buffer) {
      note_given(*last_buffer);
    }
  }
  for (const auto& damage : std::span(damage_).subspan(over_)) {
    if (damage.first_epoch >= epochs.end) break;
    if (epochs_of(damage).end > epochs.begin) out.damage.push_back(damage);
  }
}

/// Returns the offset of the last buffer.
std::optional<std::uint64_t> EpochsSource::collect_buffers(EpochRange epochs, SliceData& out) {
  std::optional<std::uint64_t> last;
  const auto* file = file_.bytes().data();
  for (auto i = first_entry_ending_after(epochs.begin); i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    if (entry.first_epoch >= epochs.end || file_.lost()) break;
    file_.prepare(entry.offset, entry.offset + stored_bytes(entry));
    if (!check(entry, out)) continue;
    const std::span bytes(file + entry.offset, stored_bytes(entry));
    if (!out.pieces.empty() && out.pieces.back().data() + out.pieces.back().size() == bytes.data()) {
      out.pieces.back() = {out.pieces.back().data(), out.pieces.back().size() + bytes.size()};
    } else {
      out.pieces.push_back(bytes);
    }
    last = entry.offset;
  }
  return last;
}

void EpochsSource::note_given(std::uint64_t last_buffer) {
  const auto header = read_epoch_buffer_header(file_.bytes().subspan(last_buffer));
  if (!header || header->epochs().end <= given_end_) return;
  given_end_ = header->epochs().end;
  given_hits_ = header->hits_before + header->n_hits;
}

/// Stops using a file that was truncated, or whose disk failed, while it was read. All data not yet delivered are
/// damage from the middle of `epochs` on, which belongs to the slice being sent.
void EpochsSource::give_up(EpochRange epochs) {
  gave_up_ = true;
  ++anomalies_;
  Damage damage;
  damage.first_epoch = std::max(given_end_, epochs.begin + (epochs.end - epochs.begin) / 2);
  damage.n_epochs = std::numeric_limits<Epoch>::max() - damage.first_epoch;
  damage.n_hits = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(hits_ - std::min(hits_, given_hits_), std::numeric_limits<std::uint32_t>::max()));
  end_epoch_ = std::max(end_epoch_, damage.first_epoch + 1);
  damage_.insert(std::ranges::upper_bound(damage_, damage.first_epoch, {}, &Damage::first_epoch), damage);
  tail_damage_ = damage;
  count_lost(damage);
  spdlog::error("{}: the file became shorter or its disk failed while it was read; {} hits from epoch {} on are lost",
                path_, damage.n_hits, damage.first_epoch.value);
}

/// Checks only the header; the words are checked when they are decoded.
bool EpochsSource::check(const IndexEntry& entry, SliceData& out) {
  if (index_state_ != IndexState::good) return true;  // checked by the scan
  const auto header = read_epoch_buffer_header(file_.bytes().subspan(entry.offset));
  const auto defect = defect_of(header, entry);
  if (!defect) return true;
  Damage damage;
  damage.first_epoch = entry.first_epoch;
  damage.n_epochs = Epoch(entry.n_epochs);
  damage.file_offset = entry.offset;
  damage.n_hits = entry.n_hits;
  damage.cause = defect->first;
  out.damage.push_back(damage);
  if (reported_.insert(entry.offset).second) {
    count_lost(damage);
    report(entry.offset, std::string(defect->second) + "; expected " + std::to_string(entry.n_hits) +
                             " hits from epoch " + std::to_string(entry.first_epoch.value) + " on, which are dropped");
  }
  return false;
}

void EpochsSource::report(std::uint64_t offset, const std::string& text) {
  defect_log_.say(Defect::damage, offset, [&] { return text; });
  problems_.push_back({offset, text});
}

std::optional<Epoch> EpochsSource::next_beginning(Epoch from) {
  std::optional<Epoch> next;
  const auto damage = std::ranges::lower_bound(damage_, from, {}, &Damage::first_epoch);
  if (damage != damage_.end()) next = damage->first_epoch;
  if (gave_up_) return next;
  const auto entry = std::ranges::lower_bound(entries_, from, {}, &IndexEntry::first_epoch);
  if (entry != entries_.end()) next = std::min(next.value_or(entry->first_epoch), entry->first_epoch);
  return file_.lost() ? from : next;  // collect() handles a lost file
}

void EpochsSource::release_before(Epoch epoch) {
  while (over_ < damage_.size() && epochs_of(damage_[over_]).end <= epoch) ++over_;
  const auto i = first_entry_ending_after(epoch);
  if (i < entries_.size()) file_.release_before(entries_[i].offset);
}

}  // namespace eventloom
