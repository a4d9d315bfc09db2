#include "io/lmd/lmd_classic.hpp"

#include <algorithm>
#include <optional>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

std::optional<LmdBufferHeader> buffer_at(FileReader& file, std::uint64_t offset, bool swapped) {
  if (offset > kMaxLmdBufferBytes || offset + kLmdHeaderBytes > file.left()) return std::nullopt;
  const auto front = file.front(static_cast<std::size_t>(offset) + kLmdHeaderBytes);
  if (front.size() < offset + kLmdHeaderBytes) return std::nullopt;
  const auto header = load_lmd_buffer(front.subspan(static_cast<std::size_t>(offset)), swapped);
  return is_lmd_buffer(header.element) ? std::optional(header) : std::nullopt;
}

bool is_size(std::uint64_t bytes) { return bytes >= kMinLmdBufferBytes && bytes <= kMaxLmdBufferBytes; }

}  // namespace

LmdBufferLayout find_lmd_buffers(FileReader& file, const LmdBufferHeader& file_header, bool swapped) {
  // GSI's writer stores half the size of a whole buffer in dlen; others store half the size without the 48-byte header.
  const std::uint64_t twice = 2 * std::uint64_t{file_header.element.dlen};
  const std::uint64_t rule = twice % kSectorBytes == 0 ? twice : twice + kLmdHeaderBytes;
  const bool is_short = file_header.element.dlen > LmdBufferHeader::kMaxShortDlen;
  const auto header_bytes = [&](std::uint64_t size) {
    return is_short ? kLmdHeaderBytes + 2 * std::uint64_t{file_header.used_long} : size;
  };
  for (const std::uint64_t size : {rule, twice + kLmdHeaderBytes}) {
    const auto first = buffer_at(file, header_bytes(size), swapped);
    if (first && is_size(size) && lmd_buffer_bytes(*first) == size) return {header_bytes(size), size};
  }
  const auto first = buffer_at(file, header_bytes(rule), swapped);
  if (first && is_size(lmd_buffer_bytes(*first))) return {header_bytes(rule), lmd_buffer_bytes(*first)};
  if (is_size(rule)) return {header_bytes(rule), rule};
  throw UserError("'" + file.path() + "': offset 0: the file header states buffers of " + std::to_string(rule) +
                  " bytes; expected " + std::to_string(kMinLmdBufferBytes) + " bytes to 256 MiB");
}

bool ClassicLmd::next(LmdEvent& event) {
  while (!events_.next(event)) {
    if (!next_buffer()) {
      if (pauses_) return false;
      if (!file_.stopped()) events_.end("an event that continues beyond the end of the file");
      return false;
    }
  }
  return true;
}

/// Advances to the next buffer of events. Returns false when there is none, or at a pause.
bool ClassicLmd::next_buffer() {
  for (;;) {
    events_.leave();
    file_.skip(length_);
    length_ = 0;
    pauses_ = awaits_buffer();
    if (pauses_) return false;
    if (file_.left() == 0 || !read_buffer_header()) return false;
    if (accept_buffer()) break;
  }
  const auto raw = file_.front(static_cast<std::size_t>(length_));
  buffer_.bytes = raw.first(std::min<std::size_t>(raw.size(), static_cast<std::size_t>(length_)));
  if (swapped_) {
    swapped_bytes_.resize(buffer_.bytes.size());
    swap_lmd_words(buffer_.bytes, swapped_bytes_.data());
    buffer_.bytes = swapped_bytes_;
  }
  events_.begin(buffer_);
  return true;
}

/// Whether the next buffer of a followed file is incomplete.
bool ClassicLmd::awaits_buffer() {
  if (file_.awaits(kLmdHeaderBytes)) return true;
  const auto front = file_.front(kLmdHeaderBytes);
  return front.size() >= kLmdHeaderBytes && file_.awaits(length_in_file(find_lmd_buffer(front, swapped_)));
}

bool ClassicLmd::read_buffer_header() {
  const auto front = file_.front(kLmdHeaderBytes);
  if (front.size() < kLmdHeaderBytes) {
    notes_.add({.offset = file_.offset(),
                .effect = LmdEffect::breaks_off,
                .hits = 0,
                .text = "the file ends after " + std::to_string(front.size()) + " bytes of a buffer's header"});
    file_.skip(front.size());
    return false;
  }
  buffer_ = {.header = find_lmd_buffer(front, swapped_), .bytes = {}, .length = 0, .offset = file_.offset()};
  return true;
}

/// DABC's buffers are as long as their contents.
std::uint64_t ClassicLmd::length_in_file(const LmdBufferHeader& header) const {
  const auto& element = header.element;
  const bool by_dabc =
      element.is(100, 1) && element.dlen == header.used_long && lmd_buffer_bytes(header) <= kMaxLmdBufferBytes;
  return by_dabc ? lmd_buffer_bytes(header) : buffer_bytes_;
}

/// Sets length_. Returns false if this buffer has no events or is unreadable.
bool ClassicLmd::accept_buffer() {
  const auto& header = buffer_.header;
  const auto& element = header.element;
  length_ = length_in_file(header);
  buffer_.length = length_;
  if (lmd_buffer_bytes(header) == length_ && (element.type == 4 || element.type == 6 || element.type == 11)) {
    ++notes_.counters[Metric::skipped_elements];
    return false;
  }
  const auto defect = buffer_.defect();
  if (defect) events_.skip(buffer_, *defect);
  return !defect;
}

}  // namespace eventloom
