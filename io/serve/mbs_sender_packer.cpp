#include "io/serve/mbs_sender_packer.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include "io/lmd/lmd_writer.hpp"

namespace eventloom {

namespace {

constexpr std::uint16_t kNativeType = 10;
constexpr std::uint16_t kVariableType = 100;
/// The first fragment of an event holds its header and at least the start of a subevent.
constexpr std::size_t kMinFragmentBytes = sizeof(LmdEventHeader) + sizeof(LmdElement);

template <class Header>
void append_header(std::vector<std::byte>& to, const Header& header) {
  const std::size_t at = to.size();
  to.resize(at + sizeof header);
  std::memcpy(to.data() + at, &header, sizeof header);
}

void swap_words(std::vector<std::byte>& bytes) {
  const std::span whole(bytes.data(), bytes.size() / 4 * 4);
  swap_lmd_words(whole, whole.data());
}

void set_time(LmdBufferHeader& header) {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  header.seconds = static_cast<std::uint32_t>(duration_cast<seconds>(now).count());
  header.fraction = static_cast<std::uint32_t>((duration_cast<nanoseconds>(now) % 1s).count());
}

}  // namespace

std::array<std::byte, kMbsHandshakeBytes> encode_mbs_handshake(const MbsLayout& layout) {
  std::array<std::uint32_t, 4> words = {1, layout.buffer_bytes, layout.buffers(), layout.native ? 1U : 0U};
  if (layout.big_endian) {
    for (auto& word : words) word = __builtin_bswap32(word);
  }
  std::array<std::byte, kMbsHandshakeBytes> bytes{};
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::uint64_t MbsPacker::largest_event() const {
  const std::uint64_t first = layout_.buffer_bytes - kLmdHeaderBytes;
  return first + (layout_.buffers() - 1) * (first - sizeof(LmdElement));
}

/// Bytes left in the current buffer; those of an empty buffer if none has been begun.
std::size_t MbsPacker::room() const {
  return layout_.buffer_bytes - (group_ == nullptr ? kLmdHeaderBytes : group_->bytes.size() - begin_);
}

/// Whether an event that begins in a buffer with `room` bytes left ends there or in the `buffers_left` after it.
bool MbsPacker::fits_into(std::uint64_t event_bytes, std::size_t room, std::uint32_t buffers_left) const {
  if (event_bytes <= room) return true;
  if (buffers_left == 0) return false;
  const std::size_t next = layout_.buffer_bytes - kLmdHeaderBytes;
  if (room < kMinFragmentBytes) return fits_into(event_bytes, next, buffers_left - 1);
  return event_bytes - room <= buffers_left * (next - sizeof(LmdElement));
}

MbsGroupPtr MbsPacker::add(const LmdEvent& event) {
  const auto bytes = event.bytes();
  MbsGroupPtr full;
  if (group_ != nullptr && !fits_into(bytes, room(), layout_.buffers() - group_->buffers)) full = finish();
  if (group_ == nullptr) begin_buffer(false);
  if (bytes <= room()) {
    append(event);
  } else {
    append_spanning(event);
  }
  ++group_->events;
  group_->event_bytes += bytes;
  return full;
}

void MbsPacker::append(const LmdEvent& event) {
  append_lmd_event(event, group_->bytes);
  ++header_.elements;
}

void MbsPacker::append_spanning(const LmdEvent& event) {
  if (room() < kMinFragmentBytes) {
    end_buffer(false);
    begin_buffer(false);
    if (event.bytes() <= room()) return append(event);
  }
  event_.clear();
  append_lmd_event(event, event_);
  append_fragments(event_);
}

/// The first fragment keeps the event's header except its length; the others are elements of the buffers' type.
void MbsPacker::append_fragments(std::span<const std::byte> event) {
  auto element = load_lmd<LmdElement>(event);
  header_.last_dlen = element.dlen;
  event = event.subspan(sizeof element);
  for (;;) {
    const auto size = std::min<std::size_t>(event.size(), room() - sizeof element);
    element.dlen = static_cast<std::uint32_t>(size / 2);
    append_header(group_->bytes, element);
    group_->bytes.insert(group_->bytes.end(), event.begin(), event.begin() + static_cast<std::ptrdiff_t>(size));
    ++header_.elements;
    event = event.subspan(size);
    if (event.empty()) return;
    const auto whole = header_.last_dlen;
    end_buffer(true);
    begin_buffer(true);
    header_.last_dlen = whole;
    element = {.dlen = 0, .type = header_.element.type, .subtype = header_.element.subtype};
  }
}

void MbsPacker::begin_buffer(bool continues) {
  if (group_ == nullptr) {
    group_ = std::make_shared<MbsGroup>();
    group_->bytes.reserve(last_bytes_);
  }
  begin_ = group_->bytes.size();
  group_->bytes.resize(begin_ + kLmdHeaderBytes);
  ++group_->buffers;
  header_ = {.element = {.dlen = 0, .type = layout_.native ? kNativeType : kVariableType, .subtype = 1},
             .continues = static_cast<std::uint8_t>(continues ? 1 : 0),
             .number = ++number_,
             .byte_order = 1};
}

void MbsPacker::end_buffer(bool has_more) {
  const auto used = static_cast<std::uint32_t>((group_->bytes.size() - begin_ - kLmdHeaderBytes) / 2);
  header_.element.dlen = used;
  if (layout_.native) {
    header_.element.dlen = (layout_.buffer_bytes - static_cast<std::uint32_t>(kLmdHeaderBytes)) / 2;
    group_->bytes.resize(begin_ + layout_.buffer_bytes);
  }
  if (header_.is_long()) {
    header_.used_long = used;
  } else {
    header_.used_short = static_cast<std::uint16_t>(used);
  }
  header_.has_more = has_more ? 1 : 0;
  if (!has_more) header_.last_dlen = 0;
  set_time(header_);
  std::memcpy(group_->bytes.data() + begin_, &header_, sizeof header_);
}

MbsGroupPtr MbsPacker::finish() {
  end_buffer(false);
  while (layout_.full_streams && group_->buffers < layout_.buffers()) {
    begin_buffer(false);
    end_buffer(false);
  }
  if (layout_.big_endian) swap_words(group_->bytes);
  last_bytes_ = group_->bytes.size();
  return std::exchange(group_, nullptr);
}

MbsGroupPtr MbsPacker::flush() { return group_ == nullptr ? nullptr : finish(); }

MbsGroupPtr MbsPacker::keep_alive() {
  begin_buffer(false);
  return finish();
}

}  // namespace eventloom
