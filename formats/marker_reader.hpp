#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/plain_hits.hpp"

namespace eventloom {

/// Position and reason of a violation of the marker format. `word` counts from the first word read.
struct FormatError {
  std::size_t word = 0;
  const char* reason = "";
};

/// Properties of an epoch buffer that its words must satisfy.
struct MarkerContext {
  EpochRange epochs;          ///< epochs that may be opened, each at most once, in ascending order
  std::uint32_t epoch_ticks;  ///< times must be less than this
  const PayloadTable& payload;
};

/// Unwraps the low 28 bits of an epoch number to the first epoch at or after `from` with these bits.
constexpr Epoch unwrap_epoch(std::uint32_t low28, Epoch from) {
  return from + Epoch((low28 - from.value) & kValueMask);
}

/// Calls `visit` for each item of an epoch buffer, in the order of the words:
///   epoch(Epoch), hit(tick_in_epoch, channel, span of payload words), tag(tag), peak(Peak),
///   histogram(first_bin, span of bins), schedule(span of words, three per entry).
/// Stops at the first word that violates the format and returns the error; earlier items have been visited by then.
/// Times within an epoch need not ascend.
///
/// A visitor may also take many hits at a time: plain_hits(words, epochs, open) visits some epochs and hits at the
/// beginning of the words, as a PlainHitUnpacker does, returns the number of their words, and sets `open` to the last
/// epoch.
template <class Visitor>
class MarkerReader {
 public:
  MarkerReader(std::span<const std::uint32_t> words, const MarkerContext& context, Visitor& visit)
      : words_(words), context_(context), visit_(visit), has_payload_(context.payload.any()) {}

  std::optional<FormatError> read() {
    while (at_ < words_.size() && reason_ == nullptr) {
      const std::uint32_t word = words_[at_];
      if (plain_hits(word)) continue;
      if (marker_type(word) == MarkerType::time) {
        time_group(word);
      } else {
        outside_time(word);
      }
    }
    if (reason_ == nullptr) return std::nullopt;
    return FormatError{at_, reason_};
  }

 private:
  [[nodiscard]] std::size_t left_after(std::size_t at) const { return words_.size() - at - 1; }

  bool plain_hits([[maybe_unused]] std::uint32_t word) {
    if constexpr (requires { visit_.plain_hits(words_, context_.epochs, epoch_); }) {
      constexpr std::size_t kWordsBefore = 2;
      if (has_payload_ || !epoch_open_ || at_ < kWordsBefore || !begins_plain_hits(word)) return false;
      const std::size_t n = visit_.plain_hits(words_.subspan(at_), context_.epochs, epoch_);
      at_ += n;
      return n > 0;
    } else {
      return false;
    }
  }

  /// Whether an epoch marker is next, or a T marker that holds one or two IDs and nothing else.
  [[nodiscard]] bool begins_plain_hits(std::uint32_t word) const {
    if (marker_type(word) == MarkerType::epoch) return true;
    const std::size_t ids = marker_value(word) >> 19;
    if (marker_type(word) != MarkerType::time || ids - 1 >= 2 || left_after(at_) < ids) return false;
    const auto is_id = [](std::uint32_t w) { return marker_type(w) == MarkerType::channel; };
    return is_id(words_[at_ + 1]) && is_id(words_[at_ + ids]);
  }

  void time_group(std::uint32_t word) {
    const std::uint32_t time = word & kTimeMask;
    if (!epoch_open_) return fail("a time marker before the first epoch marker");
    if (time >= context_.epoch_ticks) return fail("a time beyond the end of its epoch");
    std::size_t count = marker_value(word) >> 19;
    std::size_t begin = at_ + 1;
    if (count == kLongGroup) {
      if (left_after(at_) < 1) return fail("a time marker whose word count is missing");
      count = words_[begin++];
    }
    if (count > words_.size() - begin) return fail("a time marker with more words than the buffer has");
    const std::size_t end = begin + count;
    at_ = begin;
    while (at_ < end && bare_hit(time, words_[at_])) ++at_;
    if (at_ < end) items(time, end, at_ > begin);
  }

  /// The common case, kept short: an ID without payload. Returns false for any other word.
  bool bare_hit(std::uint32_t time, std::uint32_t word) {
    if (marker_type(word) != MarkerType::channel || context_.payload.of(marker_value(word)) != 0) return false;
    visit_.hit(time, marker_value(word), {});
    return true;
  }

  void items(std::uint32_t time, std::size_t end, bool have_id) {
    while (at_ < end) {
      const std::uint32_t word = words_[at_];
      switch (marker_type(word)) {
        case MarkerType::channel: {
          if (!hit(time, marker_value(word), end))
            return fail("an ID with more payload than its time marker has words");
          have_id = true;
          break;
        }
        case MarkerType::peak:
          if (!have_id) return fail("a peak without an ID before it");
          visit_.peak(decode_peak(word));
          ++at_;
          break;
        case MarkerType::tag:
          visit_.tag(marker_value(word));
          ++at_;
          break;
        default: return fail("a word that is neither ID, peak nor event tag inside a time marker");
      }
    }
  }

  bool hit(std::uint32_t time, std::uint32_t channel, std::size_t end) {
    const std::size_t room = end - at_ - 1;
    std::size_t n = context_.payload.of(channel);
    if (n == PayloadTable::kLengthInFirstWord) {
      if (room == 0) return false;
      n = std::size_t{words_[at_ + 1]} + 1;
    }
    if (n > room) return false;
    visit_.hit(time, channel, words_.subspan(at_ + 1, n));
    at_ += 1 + n;
    return true;
  }

  void outside_time(std::uint32_t word) {
    switch (marker_type(word)) {
      case MarkerType::epoch: return epoch(marker_value(word));
      case MarkerType::tag:
        if (!epoch_open_) return fail("an event tag before the first epoch marker");
        visit_.tag(marker_value(word));
        ++at_;
        return;
      case MarkerType::histogram: {
        const std::size_t bins = marker_value(word) & 0x1fffU;
        if (!epoch_open_) return fail("a histogram before the first epoch marker");
        if (bins > left_after(at_)) return fail("a histogram with more bins than the buffer has words");
        visit_.histogram(marker_value(word) >> 13, words_.subspan(at_ + 1, bins));
        at_ += 1 + bins;
        return;
      }
      case MarkerType::schedule: {
        const std::size_t n = std::size_t{marker_value(word)} * 3;
        if (!epoch_open_) return fail("a schedule before the first epoch marker");
        if (n > left_after(at_)) return fail("a schedule with more entries than the buffer has words");
        visit_.schedule(words_.subspan(at_ + 1, n));
        at_ += 1 + n;
        return;
      }
      case MarkerType::channel: return fail("an ID outside a time marker");
      case MarkerType::peak: return fail("a peak outside a time marker");
      default: return fail("a word of unknown type");
    }
  }

  void epoch(std::uint32_t low28) {
    const Epoch from = epoch_open_ ? epoch_ + 1 : context_.epochs.begin;
    const Epoch epoch = unwrap_epoch(low28, from);
    if (!context_.epochs.contains(epoch)) return fail("an epoch outside the range of its buffer");
    epoch_ = epoch;
    epoch_open_ = true;
    visit_.epoch(epoch);
    ++at_;
  }

  void fail(const char* reason) { reason_ = reason; }

  std::span<const std::uint32_t> words_;
  const MarkerContext& context_;
  Visitor& visit_;
  bool has_payload_;  ///< whether any channel has payload
  std::size_t at_ = 0;
  Epoch epoch_ = 0;
  bool epoch_open_ = false;
  const char* reason_ = nullptr;
};

}  // namespace eventloom
