#include "io/udp/board_position.hpp"

#include <algorithm>

namespace eventloom {

void BoardPosition::begin_session() {
  session_begin_ = next_;
  jump_ = {};
}

std::optional<BufferRefusal> BoardPosition::judge(EpochRange epochs, std::int64_t now_ns) {
  if (epochs.end - 1 > max_epoch(base_.epoch_ticks)) {
    return BufferRefusal{DropCause::corrupt, "the times of its epochs do not fit 64 bits"};
  }
  if (is_far(epochs, now_ns)) {
    if (is_believed(epochs, now_ns)) return std::nullopt;
    return BufferRefusal{DropCause::out_of_step, "its epochs are too far from the previous ones"};
  }
  if (epochs.begin >= next_) return std::nullopt;
  if (epochs.begin < session_begin_) {
    return BufferRefusal{DropCause::late, "the board was further ahead before it restarted"};
  }
  return BufferRefusal{DropCause::corrupt, "its epochs have been received before"};
}

void BoardPosition::deliver(EpochRange epochs, std::int64_t now_ns) {
  if (known_ && is_far(epochs, now_ns)) former_ = {next_, ns_};
  next_ = epochs.end;
  known_ = true;
  ns_ = now_ns;
  jump_ = {};
}

bool BoardPosition::admits(Epoch complete, std::int64_t now_ns) const {
  return complete <= max_epoch(base_.epoch_ticks) + 1 && (!known_ || in_step(next_, complete, now_ns - ns_));
}

void BoardPosition::reach(Epoch complete, std::int64_t now_ns) {
  next_ = std::max(next_, complete);
  known_ = true;
  ns_ = now_ns;
}

/// Whether `epochs` is too far from the position of the stream, forwards or back. Without a position, only their length
/// counts.
bool BoardPosition::is_far(EpochRange epochs, std::int64_t now_ns) const {
  if (!known_) return !in_step(epochs.begin, epochs.end - 1, 0);
  return !in_step(next_, epochs.end - 1, now_ns - ns_) || !in_step(epochs.begin, next_, 0);
}

/// Whether the epochs from `from` to `to` last no longer than the time passed plus the jump accepted at once.
bool BoardPosition::in_step(Epoch from, Epoch to, std::int64_t passed_ns) const {
  if (to <= from) return true;
  const double epoch_s = static_cast<double>(base_.tick_ps) * base_.epoch_ticks * 1e-12;
  const double passed_s = static_cast<double>(passed_ns) * 1e-9;
  return static_cast<double>(to - from) * epoch_s <= kMostJump_s + passed_s;
}

/// Whether enough epoch buffers agree on a jump, or the jump returns to the position before the last jump.
bool BoardPosition::is_believed(EpochRange epochs, std::int64_t now_ns) {
  if (former_ && epochs.begin >= former_->next && in_step(former_->next, epochs.end - 1, now_ns - former_->ns)) {
    return true;
  }
  const bool follows = jump_.buffers != 0 && epochs.begin >= jump_.end && in_step(jump_.end, epochs.end - 1, 0);
  jump_ = {follows ? jump_.buffers + 1 : 1, epochs.end};
  return jump_.buffers >= kJumpBuffers;
}

}  // namespace eventloom
