#pragma once

#include <cstdint>
#include <optional>

#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// Why an epoch buffer is not used.
struct BufferRefusal {
  DropCause cause = DropCause::corrupt;
  const char* reason = "";
};

/// The position of a board's stream in epochs, and which epochs may come next: later ones, up to a jump accepted at
/// once beyond the time passed; after a jump forwards or back, others. Times are in ns of any monotonic clock.
class BoardPosition {
 public:
  /// Data time between neighbours that is accepted at once, in addition to the time passed: clock differences between
  /// boards and pauses between spills are shorter.
  static constexpr double kMostJump_s = 60;
  /// A greater jump, forwards or back, is accepted when this many consecutive epoch buffers agree on it.
  static constexpr std::uint32_t kJumpBuffers = 8;

  explicit BoardPosition(const TimeBase& base) : base_(base) {}

  /// No data before this epoch are pending.
  [[nodiscard]] Epoch next() const { return next_; }
  /// Whether next() has been set by data or by a mark.
  [[nodiscard]] bool is_known() const { return known_; }

  /// The board has restarted: what it repeats of earlier sessions is late.
  void begin_session();
  /// Why an epoch buffer with these epochs is not used; std::nullopt if it is, for which call deliver(). Counts the
  /// buffers that agree on a jump: call it once for each.
  std::optional<BufferRefusal> judge(EpochRange epochs, std::int64_t now_ns);
  /// Moves to the end of these epochs.
  void deliver(EpochRange epochs, std::int64_t now_ns);
  /// Whether a mark may state that the epochs before `complete` are over.
  [[nodiscard]] bool admits(Epoch complete, std::int64_t now_ns) const;
  /// Moves to `complete`, unless it is behind.
  void reach(Epoch complete, std::int64_t now_ns);

  /// Whether the buffer judged last agrees with the one before it on a jump that is not accepted yet.
  [[nodiscard]] bool continues_jump() const { return jump_.buffers > 1; }

 private:
  /// Consecutive epoch buffers that agree with each other but not with earlier ones.
  struct Jump {
    std::uint32_t buffers = 0;
    Epoch end = 0;
  };
  struct Place {
    Epoch next = 0;
    std::int64_t ns = 0;
  };

  [[nodiscard]] bool in_step(Epoch from, Epoch to, std::int64_t passed_ns) const;
  [[nodiscard]] bool is_far(EpochRange epochs, std::int64_t now_ns) const;
  bool is_believed(EpochRange epochs, std::int64_t now_ns);

  TimeBase base_;
  Epoch next_ = 0;
  Epoch session_begin_ = 0;  ///< next_ when the session began
  bool known_ = false;       ///< next_ is the position of the stream
  std::int64_t ns_ = 0;      ///< time of that position
  Jump jump_;
  std::optional<Place> former_;  ///< before the last jump
};

}  // namespace eventloom
