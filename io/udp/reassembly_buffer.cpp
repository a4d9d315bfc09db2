#include "io/udp/reassembly_buffer.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace eventloom {

namespace {

/// No sender gets this far, and one past any sequence number in use must not overflow.
constexpr std::uint64_t kMostSequence = std::uint64_t{1} << 63;

}  // namespace

ReassemblyBuffer::Placement ReassemblyBuffer::put(const Datagram& datagram, std::int64_t now_ns) {
  const auto& header = datagram.header;
  if (header.sequence > kMostSequence) return Placement::contradiction;
  if (header.sequence < next_) return Placement::duplicate;
  const auto found = pending_.find(header.sequence);
  if (found != pending_.end()) {
    const auto placement = place(found->second, datagram);
    if (placement != Placement::taken) return placement;
  }
  note_order(header);
  auto& pending = found != pending_.end() ? found->second : pending_[header.sequence];
  if (pending.have == 0) pending.first_ns = now_ns;
  pending.whole = header.buffer_bytes;
  pending.last_ns = now_ns;
  pending.have += static_cast<std::uint32_t>(datagram.contents.size());
  pending.fragments.emplace(header.offset, std::vector(datagram.contents.begin(), datagram.contents.end()));
  held_bytes_ += datagram.contents.size() + kFragmentCost;
  return Placement::taken;
}

ReassemblyBuffer::Placement ReassemblyBuffer::place(const Pending& pending, const Datagram& datagram) {
  const auto& header = datagram.header;
  if (header.buffer_bytes != pending.whole) return Placement::contradiction;
  const std::size_t end = header.offset + datagram.contents.size();
  const auto behind = pending.fragments.lower_bound(header.offset);
  if (behind != pending.fragments.end()) {
    if (behind->first == header.offset && behind->second.size() == datagram.contents.size())
      return Placement::duplicate;
    if (behind->first < end) return Placement::contradiction;
  }
  if (behind == pending.fragments.begin()) return Placement::taken;
  const auto& [before, bytes] = *std::prev(behind);
  return before + bytes.size() > header.offset ? Placement::contradiction : Placement::taken;
}

void ReassemblyBuffer::note_order(const DatagramHeader& header) {
  const auto place = std::pair(header.sequence, header.offset);
  if (place < std::pair(highest_sequence_, highest_offset_)) {
    ++reordered_;
    return;
  }
  highest_sequence_ = header.sequence;
  highest_offset_ = header.offset;
}

void ReassemblyBuffer::put_mark(const Datagram& datagram, std::int64_t now_ns) {
  const auto sequence = datagram.header.sequence;
  if (sequence < next_ || sequence > kMostSequence) return;
  PendingMark mark{sequence, now_ns, {mark_of(datagram), datagram.header.kind == DatagramKind::end}};
  if (mark_) {
    const auto order = [](const PendingMark& m) {
      return std::tuple(m.reached.end, m.sequence, m.reached.mark.complete);
    };
    if (order(mark) <= order(*mark_)) return;
    // The pending mark already waits for the missing data since then.
    mark.noticed_ns = mark_->noticed_ns;
  }
  mark_ = mark;
}

std::optional<ReassembledItem> ReassemblyBuffer::next(std::int64_t noticed_by) {
  if (mark_ && mark_->sequence == next_) return std::exchange(mark_, std::nullopt)->reached;
  if (!waiting()) return std::nullopt;
  const auto first = pending_.begin();
  if (first != pending_.end() && first->first == next_ && first->second.have == first->second.whole) {
    return take_whole();
  }
  if (!over_full() && noticed_ns() > noticed_by) return std::nullopt;
  return give_up();
}

/// The time at which data at `next_` were noticed missing, because later data arrived. kAlways before that: a sender
/// may pause anywhere, even within an epoch buffer.
std::int64_t ReassemblyBuffer::noticed_ns() const {
  std::int64_t noticed = mark_ ? mark_->noticed_ns : kAlways;
  const auto first = pending_.begin();
  if (first == pending_.end()) return noticed;
  if (first->first != next_) return std::min(first->second.first_ns, noticed);
  const auto second = std::next(first);
  if (second != pending_.end()) noticed = std::min(second->second.first_ns, noticed);
  // The rest of a slowly sent buffer may still arrive.
  return std::max(first->second.last_ns, noticed);
}

std::vector<MissingPiece> ReassemblyBuffer::missing(std::size_t most, bool from_beginning) const {
  std::vector<MissingPiece> out;
  std::uint64_t at = next_;
  const auto add_until = [&](std::uint64_t end) {
    if (next_ == 0 && at == 0 && !from_beginning) at = end;
    for (; at < end && out.size() < most; ++at) out.push_back({at, 0, 0});
  };
  for (auto buffer = pending_.begin(); buffer != pending_.end() && out.size() < most; ++buffer) {
    add_until(buffer->first);
    const bool passed = std::next(buffer) != pending_.end() || (mark_ && mark_->sequence > buffer->first);
    add_holes(*buffer, passed, out);
    at = buffer->first + 1;
  }
  if (mark_) add_until(mark_->sequence);
  if (out.size() > most) out.resize(most);
  return out;
}

/// Adds what is missing before the last fragment received, and after it if the sender is known to have `passed` it.
void ReassemblyBuffer::add_holes(const PendingBuffers::value_type& buffer, bool passed,
                                 std::vector<MissingPiece>& out) {
  const auto& [sequence, pending] = buffer;
  std::uint32_t at = 0;
  for (const auto& [offset, bytes] : pending.fragments) {
    if (offset > at) out.push_back({sequence, at, offset});
    at = offset + static_cast<std::uint32_t>(bytes.size());
  }
  if (passed && at < pending.whole) out.push_back({sequence, at, pending.whole});
}

WholeBuffer ReassemblyBuffer::take_whole() {
  const auto first = pending_.begin();
  WholeBuffer whole{next_++, {}};
  held_bytes_ -= first->second.have + first->second.fragments.size() * kFragmentCost;
  whole.bytes = joined(first->second);
  pending_.erase(first);
  return whole;
}

std::vector<std::byte> ReassemblyBuffer::joined(Pending& pending) {
  auto& fragments = pending.fragments;
  if (fragments.size() == 1) return std::move(fragments.begin()->second);
  std::vector<std::byte> bytes;
  bytes.reserve(pending.have);
  for (const auto& [offset, fragment] : fragments) bytes.insert(bytes.end(), fragment.begin(), fragment.end());
  return bytes;
}

MissingBuffers ReassemblyBuffer::give_up() {
  const auto first = pending_.begin();
  if (first != pending_.end() && first->first == next_) {
    MissingBuffers missing{1, std::nullopt};
    const auto& [offset, fragment] = *first->second.fragments.begin();
    if (offset == 0) missing.header = read_epoch_buffer_header(fragment);
    if (missing.header && missing.header->sequence != next_) missing.header.reset();
    held_bytes_ -= first->second.have + first->second.fragments.size() * kFragmentCost;
    pending_.erase(first);
    ++next_;
    return missing;
  }
  auto to = first != pending_.end() ? first->first : mark_->sequence;
  if (mark_) to = std::min(to, mark_->sequence);
  return {to - std::exchange(next_, to), std::nullopt};
}

}  // namespace eventloom
