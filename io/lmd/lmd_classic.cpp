#include "io/lmd/lmd_classic.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kSectorBytes = 512;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMinBufferBytes = kLmdHeaderBytes + sizeof(LmdElement);

bool is_buffer(const LmdElement& element) { return element.is(10, 1) || element.is(100, 1); }
std::uint64_t bytes_of(const LmdBufferHeader& header) {
  return kLmdHeaderBytes + 2 * std::uint64_t{header.element.dlen};
}

/// `bytes` hold a buffer's header.
LmdBufferHeader load_header(std::span<const std::byte> bytes, bool swapped) {
  if (!swapped) return load_lmd<LmdBufferHeader>(bytes);
  std::array<std::byte, kLmdHeaderBytes> words{};
  swap_lmd_words(bytes.first(words.size()), words.data());
  return load_lmd<LmdBufferHeader>(words);
}

std::optional<LmdBufferHeader> buffer_at(FileWindow& file, std::uint64_t offset, bool swapped) {
  if (offset > kMaxBufferBytes || offset + kLmdHeaderBytes > file.left()) return std::nullopt;
  const auto front = file.front(static_cast<std::size_t>(offset) + kLmdHeaderBytes);
  if (front.size() < offset + kLmdHeaderBytes) return std::nullopt;
  const auto header = load_header(front.subspan(static_cast<std::size_t>(offset)), swapped);
  return is_buffer(header.element) ? std::optional(header) : std::nullopt;
}

bool is_size(std::uint64_t bytes) { return bytes >= kMinBufferBytes && bytes <= kMaxBufferBytes; }

}  // namespace

LmdBufferLayout find_lmd_buffers(FileWindow& file, const LmdBufferHeader& file_header, bool swapped) {
  // GSI's writer has half a whole buffer in dlen, others half of what follows the 48 bytes.
  const std::uint64_t twice = 2 * std::uint64_t{file_header.element.dlen};
  const std::uint64_t rule = twice % kSectorBytes == 0 ? twice : twice + kLmdHeaderBytes;
  const bool is_short = file_header.element.dlen > LmdBufferHeader::kMaxShortDlen;
  const auto header_bytes = [&](std::uint64_t size) {
    return is_short ? kLmdHeaderBytes + 2 * std::uint64_t{file_header.used_long} : size;
  };
  for (const std::uint64_t size : {rule, twice + kLmdHeaderBytes}) {
    const auto first = buffer_at(file, header_bytes(size), swapped);
    if (first && is_size(size) && bytes_of(*first) == size) return {header_bytes(size), size};
  }
  const auto first = buffer_at(file, header_bytes(rule), swapped);
  if (first && is_size(bytes_of(*first))) return {header_bytes(rule), bytes_of(*first)};
  if (is_size(rule)) return {header_bytes(rule), rule};
  throw UserError("'" + file.path() + "': offset 0: the file header gives buffers of " + std::to_string(rule) +
                  " bytes; there are buffers of " + std::to_string(kMinBufferBytes) + " bytes to 256 MiB");
}

bool ClassicLmd::next(LmdEvent& event) {
  for (;;) {
    if (at_ < end_) {
      if (next_element(event)) return true;
    } else if (!next_buffer()) {
      return end();
    }
  }
}

// ---------------------------------------------------------------- buffers

/// Goes to the next buffer of events; false when there is none.
bool ClassicLmd::next_buffer() {
  for (;;) {
    leave_buffer();
    if (file_.left() == 0 || !read_buffer_header()) return false;
    if (accept_buffer()) break;
  }
  const auto raw = file_.front(static_cast<std::size_t>(length_));
  buffer_ = raw.first(std::min<std::size_t>(raw.size(), static_cast<std::size_t>(length_)));
  if (swapped_) {
    swapped_bytes_.resize(buffer_.size());
    swap_lmd_words(buffer_, swapped_bytes_.data());
    buffer_ = swapped_bytes_;
  }
  begin_elements();
  return true;
}

void ClassicLmd::leave_buffer() {
  if (!buffer_.empty() && buffer_.size() < length_ && !cut_noted_) {
    note(base_ + buffer_.size(), LmdEffect::breaks_off, 0,
         "the file ends after " + std::to_string(buffer_.size()) + " of the " + std::to_string(length_) +
             " bytes of a buffer");
  }
  file_.skip(length_);
  length_ = 0;
  buffer_ = {};
  at_ = end_ = 0;
}

bool ClassicLmd::read_buffer_header() {
  base_ = file_.offset();
  const auto front = file_.front(kLmdHeaderBytes);
  if (front.size() < kLmdHeaderBytes) {
    note(base_, LmdEffect::breaks_off, 0,
         "the file ends after " + std::to_string(front.size()) + " bytes of a buffer's header");
    file_.skip(front.size());
    return false;
  }
  header_ = load_header(front, swapped_);
  const auto other = load_header(front, !swapped_);
  if (!is_buffer(header_.element) && is_buffer(other.element) && other.byte_order <= 1) {
    swapped_ = !swapped_;
    header_ = other;
  }
  return true;
}

/// Sets length_; false when there is nothing to be read in this buffer.
bool ClassicLmd::accept_buffer() {
  length_ = buffer_bytes_;
  const auto& element = header_.element;
  // DABC's buffers are as long as what is in them.
  if (element.is(100, 1) && element.dlen == header_.used_long && bytes_of(header_) <= kMaxBufferBytes) {
    length_ = bytes_of(header_);
  }
  const bool fits = bytes_of(header_) == length_;
  if (fits && (element.type == 4 || element.type == 6 || element.type == 11)) {
    ++notes_.counts.skipped_elements;
    return false;
  }
  if (!is_buffer(element) || !fits || header_.used() > element.dlen) {
    note(base_, LmdEffect::hole, 0,
         "expected a buffer of " + std::to_string(length_) + " bytes of type 10/1 or 100/1; found type " +
             std::to_string(element.type) + "/" + std::to_string(element.subtype) + ", " +
             std::to_string(bytes_of(header_)) + " bytes, of which " +
             std::to_string(2 * std::uint64_t{header_.used()}) + " are used");
    drop_open("an event whose rest should be in a damaged buffer", LmdEffect::loss);
    hole_noted_ = true;
    return false;
  }
  return true;
}

void ClassicLmd::begin_elements() {
  ++notes_.counts.buffers;
  if (header_.continues != 0) ++notes_.counts.buffers_continued;
  compare_numbers();
  if (open_.active && header_.continues == 0) {
    drop_open("an event that should go on in the next buffer, which begins with another", LmdEffect::hole);
  }
  at_ = kLmdHeaderBytes;
  end_ = static_cast<std::size_t>(
      std::min<std::uint64_t>(kLmdHeaderBytes + 2 * std::uint64_t{header_.used()}, buffer_.size()));
  begins_ = true;
}

/// Looks for buffers that are missing before this one. Old writers do not number theirs.
void ClassicLmd::compare_numbers() {
  const auto last = std::exchange(last_number_, header_.number);
  if (!last || (*last == 0 && header_.number == 0)) return;
  const std::uint32_t missing = header_.number - *last - 1;
  if (missing == 0) return;
  drop_open("an event whose rest is in a buffer that is missing", LmdEffect::loss);
  if (missing < std::numeric_limits<std::int32_t>::max()) {
    notes_.counts.missing_buffers += missing;
    if (!hole_noted_) {
      note(base_, LmdEffect::hole, 0,
           std::to_string(missing) + " buffers are missing between those of number " + std::to_string(*last) + " and " +
               std::to_string(header_.number));
    }
    hole_noted_ = true;
  }
}

// ---------------------------------------------------------------- elements

/// True when an event is complete.
bool ClassicLmd::next_element(LmdEvent& event) {
  const auto rest = buffer_.subspan(at_, end_ - at_);
  const auto element = rest.size() < sizeof(LmdElement) ? LmdElement{} : load_lmd<LmdElement>(rest);
  if (rest.size() < element.bytes()) {
    lose_rest(element);
    return false;
  }
  const auto bytes = rest.first(static_cast<std::size_t>(element.bytes()));
  const std::uint64_t offset = base_ + at_;
  at_ += bytes.size();
  const bool last = at_ == kLmdHeaderBytes + 2 * std::uint64_t{header_.used()};
  const bool goes_on = last && header_.goes_on != 0;
  if (std::exchange(begins_, false) && header_.continues != 0) return continue_event(bytes, goes_on, event);
  hole_noted_ = false;
  if (goes_on) {
    open_event(bytes);
    return false;
  }
  if (element.is_event()) return give(bytes, offset, event);
  ++notes_.counts.skipped_elements;
  return false;
}

bool ClassicLmd::continue_event(std::span<const std::byte> fragment, bool goes_on, LmdEvent& event) {
  if (!open_.active) {
    ++notes_.counts.skipped_fragments;
    if (!hole_noted_) {
      note(base_ + kLmdHeaderBytes, LmdEffect::loss, 0,
           "the rest of an event whose beginning is not in this file, or is damaged; it is skipped");
    }
    hole_noted_ = goes_on;  // its further fragments are part of the same loss
    return false;
  }
  fragment = fragment.subspan(sizeof(LmdElement));
  if (open_.bytes.size() + fragment.size() > kMaxLmdEventBytes) {
    drop_open("an event of more than 256 MiB in fragments", LmdEffect::loss);
    hole_noted_ = goes_on;
    return false;
  }
  open_.bytes.insert(open_.bytes.end(), fragment.begin(), fragment.end());
  if (goes_on) return false;
  open_.active = false;
  if (!load_lmd<LmdElement>(open_.bytes).is_event()) {
    ++notes_.counts.skipped_elements;
    return false;
  }
  const auto dlen = static_cast<std::uint32_t>((open_.bytes.size() - sizeof(LmdElement)) / 2);
  std::memcpy(open_.bytes.data(), &dlen, sizeof dlen);
  return give(open_.bytes, open_.offset, event);
}

void ClassicLmd::open_event(std::span<const std::byte> fragment) {
  open_.bytes.assign(fragment.begin(), fragment.end());
  open_.offset = base_ + end_ - fragment.size();
  open_.active = true;
}

bool ClassicLmd::give(std::span<const std::byte> bytes, std::uint64_t offset, LmdEvent& event) {
  event.offset = offset;
  if (read_lmd_event(bytes, event)) return true;
  note(offset, LmdEffect::loss, static_cast<std::uint32_t>(event.subevents.size()) + 1,
       "the subevents of an event do not fill its " + std::to_string(bytes.size()) + " bytes; the event is dropped");
  return false;
}

// ---------------------------------------------------------------- damage

void ClassicLmd::note(std::uint64_t offset, LmdEffect effect, std::uint32_t hits, std::string text) {
  notes_.add({.offset = offset, .effect = effect, .hits = hits, .text = std::move(text)});
}

/// The element at at_ is longer than what is left of its buffer.
void ClassicLmd::lose_rest(const LmdElement& element) {
  const bool cut = buffer_.size() < length_;
  const std::size_t left = end_ - at_;
  const auto hits = cut && element.is_event() ? count_lmd_items(buffer_.subspan(at_, left)) : 0;
  if (header_.continues != 0 && begins_) drop_open("an event whose rest is damaged", LmdEffect::loss);
  note(base_ + at_, cut ? LmdEffect::breaks_off : LmdEffect::hole, hits,
       "an element of " + std::to_string(element.bytes()) + " bytes where the buffer has " + std::to_string(left) +
           (cut ? " before the file ends" : "; reading goes on with the next buffer"));
  hole_noted_ = header_.goes_on != 0;
  cut_noted_ = cut;
  begins_ = false;
  at_ = end_;
}

void ClassicLmd::drop_open(const std::string& why, LmdEffect effect) {
  if (!std::exchange(open_.active, false)) return;
  note(open_.offset, effect, count_lmd_items(open_.bytes), why);
}

bool ClassicLmd::end() {
  drop_open("an event that goes on behind the end of the file", LmdEffect::breaks_off);
  return false;
}

}  // namespace eventloom
