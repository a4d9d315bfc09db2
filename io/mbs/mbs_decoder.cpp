#include "io/mbs/mbs_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kGrowBytes = std::size_t{256} << 10;
constexpr std::size_t kLeastRoom = std::size_t{64} << 10;
constexpr std::uint32_t kMinMaxBytes = 64;
constexpr std::uint32_t kMaxMaxBytes = 64U << 20;
constexpr std::uint32_t kMaxBuffersPerStream = 1U << 16;

}  // namespace

std::span<std::byte> MbsDecoder::room() {
  buffer_ = {};
  if (begin_ != 0 && memory_.size() - end_ < kLeastRoom) {
    std::memmove(memory_.data(), memory_.data() + begin_, unread());
    end_ -= std::exchange(begin_, 0);
  }
  if (memory_.size() - end_ < kLeastRoom) {
    const std::size_t enough = std::size_t{handshake_.max_bytes} + kGrowBytes;
    memory_.resize(std::max(std::min(2 * memory_.size(), enough), memory_.size() + kGrowBytes));
  }
  return std::span(memory_).subspan(end_);
}

MbsDecoder::Found MbsDecoder::next() {
  buffer_ = {};
  if (garbage_) return Found::garbage;
  return greeted_ ? read_buffer() : read_handshake();
}

MbsDecoder::Found MbsDecoder::give_up(std::string why) {
  garbage_ = true;
  defect_ = std::move(why);
  return Found::garbage;
}

MbsDecoder::Found MbsDecoder::read_handshake() {
  if (unread() < MbsHandshake::kBytes) return Found::nothing;
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), front().data(), sizeof words);
  constexpr std::uint32_t kMark = 1;
  handshake_.swapped = words[0] == __builtin_bswap32(kMark);
  if (words[0] != kMark && !handshake_.swapped) {
    return give_up(
        fmt::format("the first word it sends is {:#010x}, not the byte-order mark 1: not an MBS server", words[0]));
  }
  if (handshake_.swapped) {
    for (auto& word : words) word = __builtin_bswap32(word);
  }
  handshake_.max_bytes = words[1];
  handshake_.buffers_per_stream = words[2];
  handshake_.variable = words[3] == 0;
  const bool streams_fit = words[2] >= 1 && words[2] <= kMaxBuffersPerStream && words[3] <= kMaxBuffersPerStream;
  if (words[1] < kMinMaxBytes || words[1] > kMaxMaxBytes || (!handshake_.variable && !streams_fit)) {
    return give_up(
        fmt::format("it offers buffers of {} bytes, {} in each of {} streams; expected 64 bytes to "
                    "64 MiB, and 1 to 65536 buffers",
                    words[1], words[2], words[3]));
  }
  begin_ += MbsHandshake::kBytes;
  greeted_ = true;
  buffer_swapped_ = handshake_.swapped;
  return Found::handshake;
}

/// Sets the header and length of buffer_; returns false when the length is impossible.
bool MbsDecoder::read_header() {
  buffer_.header = find_lmd_buffer(front(), buffer_swapped_);
  buffer_.offset = base_;
  buffer_.length = handshake_.max_bytes;
  if (!handshake_.variable) return true;
  const auto& header = buffer_.header;
  buffer_.length = kLmdHeaderBytes + 2 * std::uint64_t{header.used_long};
  const bool plausible = is_lmd_buffer(header.element) || header.element.dlen == header.used_long;
  return plausible && buffer_.length <= handshake_.max_bytes;
}

/// Makes the first `n` bytes of the buffer available.
void MbsDecoder::set_bytes(std::size_t n) {
  buffer_.bytes = front().first(n);
  if (!buffer_swapped_) return;
  swapped_.resize(n);
  swap_lmd_words(buffer_.bytes, swapped_.data());
  buffer_.bytes = swapped_;
}

MbsDecoder::Found MbsDecoder::read_buffer() {
  if (unread() < kLmdHeaderBytes) return Found::nothing;
  if (!read_header()) {
    return give_up(fmt::format("offset {}: expected a buffer of at most {} bytes; found type {}/{}, {} bytes", base_,
                               handshake_.max_bytes, buffer_.header.element.type, buffer_.header.element.subtype,
                               buffer_.length));
  }
  if (unread() < buffer_.length) {
    buffer_ = {};
    return Found::nothing;
  }
  const auto length = static_cast<std::size_t>(buffer_.length);
  const auto& header = buffer_.header;
  const bool ends = is_lmd_buffer(header.element) && static_cast<std::int32_t>(header.elements) < 0;
  const bool counts_events = !handshake_.variable && header.element.type == 10;
  const bool empty = !buffer_.defect() && (header.used() == 0 || (counts_events && header.elements == 0));
  if (!ends && !empty) set_bytes(length);
  begin_ += length;
  base_ += length;
  if (ends) return Found::disconnect;
  return empty ? Found::empty : Found::buffer;
}

bool MbsDecoder::cut() {
  if (garbage_ || !greeted_ || unread() < kLmdHeaderBytes || !read_header()) return false;
  const std::size_t n = unread();
  set_bytes(n);
  begin_ += n;
  base_ += n;
  return true;
}

}  // namespace eventloom
