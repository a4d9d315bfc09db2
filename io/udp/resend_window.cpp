#include "io/udp/resend_window.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

ResendWindow::ResendWindow(std::size_t bytes)
    : capacity_(bytes), memory_(bytes == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

void ResendWindow::add(const DatagramHeader& header, std::span<const std::byte> datagram) {
  if (datagram.size() > capacity_) return;
  const std::size_t at = place_for(datagram.size());
  const auto contents = static_cast<std::uint32_t>(datagram.size() - sizeof header);
  std::ranges::copy(datagram, memory_.get() + at);
  kept_.push_back({.sequence = header.sequence,
                   .begin = header.offset,
                   .end = header.offset + contents,
                   .at = at,
                   .bytes = datagram.size()});
  next_ = at + datagram.size();
  may_send_ += datagram.size();
}

/// Drops the oldest datagrams until there is contiguous room.
std::size_t ResendWindow::place_for(std::size_t bytes) {
  std::size_t at = next_;
  if (at + bytes > capacity_) {
    // The oldest datagrams lie after `next_`; the ring continues at its beginning.
    while (!kept_.empty() && kept_.front().at >= next_) kept_.pop_front();
    at = 0;
  }
  while (!kept_.empty() && kept_.front().at >= at && kept_.front().at < at + bytes) kept_.pop_front();
  return at;
}

void ResendWindow::select(const MissingPiece& piece, std::int64_t now_ns,
                          const std::function<void(std::span<const std::byte>)>& again) {
  const bool all = piece.begin == 0 && piece.end == 0;
  auto kept = std::ranges::lower_bound(kept_, std::pair(piece.sequence, piece.begin), {},
                                       [](const Kept& one) { return std::pair(one.sequence, one.end - 1); });
  for (; kept != kept_.end() && kept->sequence == piece.sequence && (all || kept->begin < piece.end); ++kept) {
    const bool too_soon = kept->times != 0 && now_ns - kept->last_ns < kPause_ns;
    if (too_soon || kept->times == kMostTimes || kept->bytes > may_send_) continue;
    kept->last_ns = now_ns;
    ++kept->times;
    may_send_ -= kept->bytes;
    again({memory_.get() + kept->at, kept->bytes});
  }
}

}  // namespace eventloom
