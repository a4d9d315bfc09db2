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

std::uint64_t end_of(const IndexEntry& entry) { return entry.offset + stored_bytes(entry); }

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
    begin = end_of(entry);
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

}  // namespace

EpochsSource::EpochsSource(const std::string& path) : path_(path), file_(path), blocks_(path) {
  auto decoded = read_header(path, file_.bytes());
  header_ = std::move(decoded.header);
  first_buffer_ = decoded.first_buffer_offset;
  if (first_buffer_ > file_.bytes().size()) throw UserError("'" + path + "': the file ends in its header");
  if (!use_index()) scan();
  count_unknown();
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
    log::warn("{}: no index, the recording was not closed; {} epoch buffers found by scanning", path_, entries_.size());
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

/// Losses of unknown size, see EpochBufferHeader. They are reported when they are decoded.
void EpochsSource::count_unknown() {
  const auto n = std::ranges::count_if(entries_, is_unknown_loss<IndexEntry>);
  counts_.counters[Metric::unknown_losses] = static_cast<std::uint64_t>(n);
  anomalies_ += static_cast<std::uint64_t>(n);
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
    const auto last = collect_buffers(epochs, out);
    if (lost()) {
      out.clear();
      give_up(epochs);
    } else if (last) {
      note_given(*last);
    }
  }
  for (const auto& damage : std::span(damage_).subspan(over_)) {
    if (damage.first_epoch >= epochs.end) break;
    if (epochs_of(damage).end > epochs.begin) out.damage.push_back(damage);
  }
}

/// Returns the header of the last buffer collected.
std::optional<EpochBufferHeader> EpochsSource::collect_buffers(EpochRange epochs, SliceData& out) {
  std::optional<EpochBufferHeader> last;
  const auto wanted = [&](std::size_t i) { return i < entries_.size() && entries_[i].first_epoch < epochs.end; };
  for (auto begin = first_entry_ending_after(epochs.begin); wanted(begin) && !lost();) {
    auto end = begin + 1;
    while (wanted(end) && entries_[end].offset == end_of(entries_[end - 1])) ++end;
    if (const auto header = collect_adjacent(entries_.subspan(begin, end - begin), out)) last = header;
    begin = end;
  }
  return last;
}

/// Collects buffers that follow each other in the file. Returns the header of the last intact one.
std::optional<EpochBufferHeader> EpochsSource::collect_adjacent(std::span<const IndexEntry> entries, SliceData& out) {
  const auto begin = entries.front().offset;
  const auto bytes = blocks_.read(begin, end_of(entries.back()) - begin, entries.back().epochs().end);
  if (lost()) return std::nullopt;
  std::optional<EpochBufferHeader> last;
  bool joins = false;  // the last piece ends where the next buffer begins
  for (const auto& entry : entries) {
    const auto buffer = bytes.subspan(entry.offset - begin, stored_bytes(entry));
    const auto header = read_epoch_buffer_header(buffer);
    const bool intact = check(entry, header, out);
    if (intact && joins) {
      out.pieces.back() = {out.pieces.back().data(), out.pieces.back().size() + buffer.size()};
    } else if (intact) {
      out.pieces.push_back(buffer);
    }
    if (intact) last = header;
    joins = intact;
  }
  return last;
}

void EpochsSource::note_given(const EpochBufferHeader& last) {
  if (last.epochs().end <= given_end_) return;
  given_end_ = last.epochs().end;
  given_hits_ = last.hits_before + last.n_hits;
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
  log::error("{}: the file became shorter or its disk failed while it was read; {} hits from epoch {} on are lost",
             path_, damage.n_hits, damage.first_epoch.value);
}

/// Checks only the header; the words are checked when they are decoded.
bool EpochsSource::check(const IndexEntry& entry, const std::optional<EpochBufferHeader>& header, SliceData& out) {
  if (index_state_ != IndexState::good) return true;  // checked by the scan
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
  return lost() ? from : next;  // collect() handles a lost file
}

void EpochsSource::release_before(Epoch epoch) {
  while (over_ < damage_.size() && epochs_of(damage_[over_]).end <= epoch) ++over_;
  blocks_.release_before(epoch);
}

}  // namespace eventloom
