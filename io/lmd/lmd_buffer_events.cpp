#include "io/lmd/lmd_buffer_events.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace eventloom {

LmdBufferHeader load_lmd_buffer(std::span<const std::byte> bytes, bool swapped) {
  if (!swapped) return load_lmd<LmdBufferHeader>(bytes);
  std::array<std::byte, kLmdHeaderBytes> words{};
  swap_lmd_words(bytes.first(words.size()), words.data());
  return load_lmd<LmdBufferHeader>(words);
}

LmdBufferHeader find_lmd_buffer(std::span<const std::byte> bytes, bool& swapped) {
  const auto header = load_lmd_buffer(bytes, swapped);
  const auto other = load_lmd_buffer(bytes, !swapped);
  if (is_lmd_buffer(header.element) || !is_lmd_buffer(other.element) || other.byte_order > 1) return header;
  swapped = !swapped;
  return other;
}

std::optional<std::string> LmdBuffer::defect() const {
  const auto& element = header.element;
  // A buffer of type 100/1 states the length of its contents, which may be less than a fixed buffer size.
  const bool fits = element.is(100, 1) ? lmd_buffer_bytes(header) <= length : lmd_buffer_bytes(header) == length;
  if (is_lmd_buffer(element) && fits && header.used() <= element.dlen) {
    return std::nullopt;
  }
  return "expected a buffer of " + std::to_string(length) + " bytes of type 10/1 or 100/1; found type " +
         std::to_string(element.type) + "/" + std::to_string(element.subtype) + ", " +
         std::to_string(lmd_buffer_bytes(header)) + " bytes, of which " +
         std::to_string(2 * std::uint64_t{header.used()}) + " are used";
}

void LmdBufferEvents::begin(const LmdBuffer& buffer) {
  buffer_ = buffer;
  ++notes_.counters[Metric::buffers];
  if (buffer_.header.continues != 0) ++notes_.counters[Metric::buffers_continued];
  compare_numbers();
  if (open_.active && buffer_.header.continues == 0) {
    drop_open("an event that should continue in the next buffer, which begins with another event", LmdEffect::hole);
  }
  at_ = kLmdHeaderBytes;
  end_ = static_cast<std::size_t>(
      std::min<std::uint64_t>(kLmdHeaderBytes + 2 * std::uint64_t{buffer_.header.used()}, buffer_.bytes.size()));
  begins_ = true;
}

bool LmdBufferEvents::next(LmdEvent& event) {
  while (at_ < end_) {
    if (next_element(event)) return true;
  }
  return false;
}

void LmdBufferEvents::leave() {
  if (buffer_.bytes.size() < buffer_.length && !cut_noted_) {
    note(buffer_.offset + buffer_.bytes.size(), LmdEffect::breaks_off, 0,
         "the file ends after " + std::to_string(buffer_.bytes.size()) + " of the " + std::to_string(buffer_.length) +
             " bytes of a buffer");
  }
  buffer_ = {};
  at_ = end_ = 0;
  cut_noted_ = false;
}

void LmdBufferEvents::skip(const LmdBuffer& buffer, const std::string& defect) {
  note(buffer.offset, LmdEffect::hole, 0, defect);
  drop_open("an event that continues in a damaged buffer", LmdEffect::loss);
  hole_noted_ = true;
}

void LmdBufferEvents::pass(std::uint32_t number) {
  if (last_number_ && number == *last_number_ + 1) last_number_ = number;
}

void LmdBufferEvents::end(const std::string& why) { drop_open(why, LmdEffect::breaks_off); }

void LmdBufferEvents::restart(const std::string& why) {
  drop_open(why, LmdEffect::breaks_off);
  last_number_.reset();
  hole_noted_ = true;
}

/// Checks for missing buffers before this one. Old writers do not number buffers.
void LmdBufferEvents::compare_numbers() {
  const auto last = std::exchange(last_number_, buffer_.header.number);
  if (!last || (*last == 0 && buffer_.header.number == 0)) return;
  const std::uint32_t missing = buffer_.header.number - *last - 1;
  if (missing == 0) return;
  drop_open("an event that continues in a missing buffer", LmdEffect::loss);
  if (missing < std::numeric_limits<std::int32_t>::max()) {
    notes_.counters[Metric::missing_buffers] += missing;
    if (!hole_noted_) {
      note(buffer_.offset, LmdEffect::hole, 0,
           std::to_string(missing) + " buffers are missing between numbers " + std::to_string(*last) + " and " +
               std::to_string(buffer_.header.number));
    }
    hole_noted_ = true;
  }
}

/// Returns true when an event is complete.
bool LmdBufferEvents::next_element(LmdEvent& event) {
  const auto rest = buffer_.bytes.subspan(at_, end_ - at_);
  const auto element = rest.size() < sizeof(LmdElement) ? LmdElement{} : load_lmd<LmdElement>(rest);
  if (rest.size() < element.bytes()) {
    lose_rest(element);
    return false;
  }
  const auto bytes = rest.first(static_cast<std::size_t>(element.bytes()));
  const std::uint64_t offset = buffer_.offset + at_;
  at_ += bytes.size();
  const bool last = at_ == kLmdHeaderBytes + 2 * std::uint64_t{buffer_.header.used()};
  const bool has_more = last && buffer_.header.has_more != 0;
  if (std::exchange(begins_, false) && buffer_.header.continues != 0) return continue_event(bytes, has_more, event);
  hole_noted_ = false;
  if (has_more) {
    open_event(bytes);
    return false;
  }
  if (element.is_event()) return give(bytes, offset, event);
  ++notes_.counters[Metric::skipped_elements];
  return false;
}

bool LmdBufferEvents::continue_event(std::span<const std::byte> fragment, bool has_more, LmdEvent& event) {
  if (!open_.active) {
    ++notes_.counters[Metric::skipped_fragments];
    if (!hole_noted_) {
      note(buffer_.offset + kLmdHeaderBytes, LmdEffect::loss, 0,
           "the rest of an event whose beginning is missing or damaged; it is skipped");
    }
    hole_noted_ = has_more;  // further fragments belong to the same loss
    return false;
  }
  fragment = fragment.subspan(sizeof(LmdElement));
  if (open_.bytes.size() + fragment.size() > kMaxLmdEventBytes) {
    drop_open("an event of more than 256 MiB in fragments", LmdEffect::loss);
    hole_noted_ = has_more;
    return false;
  }
  open_.bytes.insert(open_.bytes.end(), fragment.begin(), fragment.end());
  if (has_more) return false;
  open_.active = false;
  if (!load_lmd<LmdElement>(open_.bytes).is_event()) {
    ++notes_.counters[Metric::skipped_elements];
    return false;
  }
  const auto dlen = static_cast<std::uint32_t>((open_.bytes.size() - sizeof(LmdElement)) / 2);
  std::memcpy(open_.bytes.data(), &dlen, sizeof dlen);
  return give(open_.bytes, open_.offset, event);
}

void LmdBufferEvents::open_event(std::span<const std::byte> fragment) {
  open_.bytes.assign(fragment.begin(), fragment.end());
  open_.offset = buffer_.offset + end_ - fragment.size();
  open_.active = true;
}

bool LmdBufferEvents::give(std::span<const std::byte> bytes, std::uint64_t offset, LmdEvent& event) {
  event.offset = offset;
  if (read_lmd_event(bytes, event)) return true;
  note(offset, LmdEffect::loss, static_cast<std::uint32_t>(event.subevents.size()) + 1,
       "the subevents of an event do not fill its " + std::to_string(bytes.size()) + " bytes; the event is dropped");
  return false;
}

void LmdBufferEvents::note(std::uint64_t offset, LmdEffect effect, std::uint32_t hits, std::string text) {
  notes_.add({.offset = offset, .effect = effect, .hits = hits, .text = std::move(text)});
}

/// Drops the element at at_, which is longer than the rest of its buffer.
void LmdBufferEvents::lose_rest(const LmdElement& element) {
  const bool cut = buffer_.bytes.size() < buffer_.length;
  const std::size_t left = end_ - at_;
  const auto hits = cut && element.is_event() ? count_lmd_items(buffer_.bytes.subspan(at_, left)) : 0;
  if (buffer_.header.continues != 0 && begins_) drop_open("an event whose rest is damaged", LmdEffect::loss);
  note(buffer_.offset + at_, cut ? LmdEffect::breaks_off : LmdEffect::hole, hits,
       "an element of " + std::to_string(element.bytes()) + " bytes where the buffer has " + std::to_string(left) +
           (cut ? " before it ends" : "; reading continues with the next buffer"));
  hole_noted_ = buffer_.header.has_more != 0;
  cut_noted_ = cut;
  begins_ = false;
  at_ = end_;
}

void LmdBufferEvents::drop_open(const std::string& why, LmdEffect effect) {
  if (!std::exchange(open_.active, false)) return;
  note(open_.offset, effect, count_lmd_items(open_.bytes), why);
}

}  // namespace eventloom
