#include "io/recorded/looped_source.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "formats/markers.hpp"

namespace eventloom {

namespace {

/// Number of words from the marker at `at` to the next marker, skipping the contents of time markers.
std::size_t words_of_item(std::span<const std::uint32_t> words, std::size_t at) {
  const std::uint32_t value = marker_value(words[at]);
  switch (marker_type(words[at])) {
    case MarkerType::time: {
      const std::size_t n = value >> 19;
      if (n != kLongGroup) return 1 + n;
      return at + 1 < words.size() ? std::size_t{2} + words[at + 1] : 1;
    }
    case MarkerType::histogram: return 1 + (value & 0x1fffU);
    case MarkerType::schedule: return 1 + std::size_t{value} * 3;
    default: return 1;
  }
}

/// Shifts all epoch markers. Words that violate the format are left for the readers to detect.
void shift_epochs(std::span<std::uint32_t> words, Epoch by) {
  for (std::size_t at = 0; at < words.size(); at += words_of_item(words, at)) {
    if (marker_type(words[at]) != MarkerType::epoch) continue;
    words[at] =
        encode_marker(MarkerType::epoch, static_cast<std::uint32_t>((marker_value(words[at]) + by.value) & kValueMask));
  }
}

}  // namespace

LoopedSource::LoopedSource(Open open, std::uint64_t passes, Epoch period)
    : open_(std::move(open)), passes_(passes), period_(period), front_(open_()) {
  header_ = front_->header();
  header_.text += "; looped, " + std::to_string(passes) + " passes, each " + std::to_string(period.value) +
                  " epochs later than the one before";
  name_ = front_->name();
  if (!front_->end_epoch()) {
    throw UserError("'" + name_ + "' cannot be replayed in a loop: not an .epochs file; convert it first");
  }
  extent_ = extent_of(*front_);
  const Epoch last = max_epoch(header_.base.epoch_ticks);
  if (passes > 1 && (extent_.end > last || period > (last - extent_.end) / (passes - 1))) {
    throw UserError("'" + name_ + "': " + std::to_string(passes) + " passes of " + std::to_string(period.value) +
                    " epochs reach beyond the last epoch that can be, " + std::to_string(last.value) + "; use fewer");
  }
}

/// Determines the contents of a pass; the last readable epoch buffer gives numbers and offsets.
LoopedSource::Extent LoopedSource::extent_of(Source& source) const {
  const Epoch first = source.first_epoch().value_or(0);
  Extent extent{first, source.end_epoch().value_or(0), source.hits_read()};
  SliceData data;
  for (Epoch n = 1; extent.buffers == 0; n = n * 2) {
    const Epoch begin = extent.end - std::min(n, extent.end - first);
    data.clear();
    source.collect({begin, extent.end}, data);
    for (auto piece : data.pieces) {
      while (!piece.empty()) {
        const auto header = read_epoch_buffer_header(piece);
        extent.buffers = header->sequence + 1;
        extent.bytes = header->stream_offset + header->stored_bytes();
        piece = piece.subspan(header->stored_bytes());
      }
    }
    if (begin == first) break;
  }
  return extent;
}

std::unique_ptr<Source> LoopedSource::open_again() const {
  auto source = open_();
  const auto& now = source->header();
  const bool same = now.base == header_.base && now.payload == header_.payload && now.flags == header_.flags &&
                    source->first_epoch().value_or(0) >= extent_.first &&
                    source->end_epoch().value_or(0) <= extent_.end;
  if (!same) throw UserError("'" + name_ + "' was replaced while it was replayed");
  return source;
}

std::uint64_t LoopedSource::pass_of(Epoch epoch) const {
  if (epoch < extent_.first || period_ == 0) return 0;
  return std::min((epoch - extent_.first) / period_, passes_ - 1);
}

EpochRange LoopedSource::epochs_of(std::uint64_t pass) const {
  const Epoch begin = pass == 0 ? 0 : extent_.first + pass * period_;
  const Epoch end = pass + 1 == passes_ ? std::numeric_limits<Epoch>::max() : extent_.first + (pass + 1) * period_;
  return {begin, end};
}

Source& LoopedSource::source_of(std::uint64_t pass) {
  if (pass == front_pass_) return *front_;
  if (!next_) next_ = open_again();
  return *next_;
}

std::optional<Epoch> LoopedSource::first_epoch() {
  if (extent_.end == 0) return std::nullopt;
  return extent_.first;
}

std::optional<Epoch> LoopedSource::end_epoch() const {
  if (extent_.end == 0) return Epoch(0);
  const auto& last = front_pass_ + 1 == passes_ ? *front_ : behind_front();
  return (passes_ - 1) * period_ + *last.end_epoch();
}

std::optional<Damage> LoopedSource::tail_damage() const {
  const auto& last = front_pass_ + 1 == passes_ ? *front_ : behind_front();
  const auto damage = last.tail_damage();
  return damage ? std::optional(shifted(*damage, passes_ - 1)) : std::nullopt;
}

Damage LoopedSource::shifted(Damage damage, std::uint64_t pass) const {
  damage.first_epoch += pass * period_;
  damage.file_offset += pass * extent_.bytes;
  damage.n_epochs = std::min(damage.n_epochs, epochs_of(pass).end - damage.first_epoch);
  return damage;
}

void LoopedSource::collect(EpochRange epochs, SliceData& out) {
  if (extent_.end == 0 || epochs.end <= epochs.begin) return;
  const std::uint64_t last = pass_of(epochs.end - 1);
  for (std::uint64_t pass = pass_of(epochs.begin); pass <= last; ++pass) {
    const auto own = epochs_of(pass);
    collect_pass(pass, {std::max(epochs.begin, own.begin), std::min(epochs.end, own.end)}, out);
  }
}

void LoopedSource::collect_pass(std::uint64_t pass, EpochRange epochs, SliceData& out) {
  const Epoch shift = pass * period_;
  data_.clear();
  source_of(pass).collect({epochs.begin - shift, epochs.end - shift}, data_);
  for (auto piece : data_.pieces) {
    while (!piece.empty()) {
      const auto header = read_epoch_buffer_header(piece);
      const auto stored = piece.first(header->stored_bytes());
      out.pieces.push_back(copy_of(pass, *header, stored));
      piece = piece.subspan(stored.size());
    }
  }
  for (const auto& damage : data_.damage) out.damage.push_back(shifted(damage, pass));
}

std::span<const std::byte> LoopedSource::copy_of(std::uint64_t pass, const EpochBufferHeader& header,
                                                 std::span<const std::byte> stored) {
  const Epoch shift = pass * period_;
  const auto [place, is_new] = copies_.try_emplace(header.first_epoch + shift);
  auto& copy = place->second;
  if (!is_new) return copy;
  if (!spares_.empty()) {
    copy = std::move(spares_.back());
    spares_.pop_back();
  }
  copy.assign(stored.begin(), stored.end());
  auto moved = header;
  moved.first_epoch += shift;
  moved.hits_before += pass * extent_.hits;
  moved.sequence += pass * extent_.buffers;
  moved.stream_offset += pass * extent_.bytes;
  const std::span words(reinterpret_cast<std::uint32_t*>(copy.data() + sizeof moved), moved.n_words);
  if (!words.empty() && words_intact(header, words)) {
    shift_epochs(words, shift);
    moved.words_crc = crc32c(std::as_bytes(words));
  }
  seal_header(moved);
  std::memcpy(copy.data(), &moved, sizeof moved);
  return copy;
}

std::optional<Epoch> LoopedSource::next_beginning(Epoch from) {
  if (extent_.end == 0) return std::nullopt;
  const std::uint64_t pass = pass_of(from);
  const Epoch shift = pass * period_;
  if (const auto next = source_of(pass).next_beginning(from - shift)) return *next + shift;
  if (pass + 1 == passes_) return std::nullopt;
  return extent_.first + shift + period_;
}

void LoopedSource::release_before(Epoch epoch) {
  while (!copies_.empty()) {
    const auto first = copies_.begin();
    if (read_epoch_buffer_header(first->second)->epochs().end > epoch) break;
    spares_.push_back(std::move(first->second));
    copies_.erase(first);
  }
  const std::uint64_t pass = pass_of(epoch);
  if (pass > front_pass_) {
    const auto& skipped = behind_front();
    const std::uint64_t n = pass - front_pass_ - 1;
    hits_behind_ += front_->hits_read() + n * skipped.hits_read();
    anomalies_behind_ += front_->anomalies() + n * skipped.anomalies();
    front_ = next_ ? std::move(next_) : open_again();
    front_pass_ = pass;
  }
  if (epoch >= front_pass_ * period_) front_->release_before(epoch - front_pass_ * period_);
}

std::uint64_t LoopedSource::hits_read() const {
  return hits_behind_ + front_->hits_read() + (passes_ - front_pass_ - 1) * behind_front().hits_read();
}

std::uint64_t LoopedSource::hits_given() const { return hits_behind_ + front_->hits_given(); }

std::uint64_t LoopedSource::anomalies() const {
  return anomalies_behind_ + front_->anomalies() + (passes_ - front_pass_ - 1) * behind_front().anomalies();
}

}  // namespace eventloom
