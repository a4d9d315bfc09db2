#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// The account of the hits that a board has sent, by its own counts: each is delivered or in a Damage, from the first
/// epoch buffer or mark of a session on, or from its beginning. Data known to be missing wait here until settle()
/// knows where the next data begin.
class BoardAccount {
 public:
  /// More hits than a board can lose between neighbours, ten hours at 25 MHz: larger counts are wrong.
  static constexpr std::uint64_t kMostLost = std::uint64_t{1} << 40;

  /// Whether the session's count is known.
  [[nodiscard]] bool has_begun() const { return hits_.has_value(); }
  /// The board's count of the hits of the session that are delivered or in a Damage.
  [[nodiscard]] std::optional<std::uint64_t> hits() const { return hits_; }
  /// The same with the hits that wait in gaps. Only if it has begun.
  [[nodiscard]] std::uint64_t hits_with_gaps() const { return *hits_ + dropped_hits(); }

  /// Another session, which counts from 0. `from_zero`: all of its hits are accounted for.
  void begin_session(bool from_zero);
  /// The board may have sent an unknown amount of data before the next.
  void note_break() { break_in_stream_ = true; }

  /// Whether the counts of an epoch buffer, or of a mark, follow from the account.
  [[nodiscard]] bool fits(const EpochBufferHeader& header) const;
  [[nodiscard]] bool fits(std::uint64_t hits) const { return hits >= *hits_ && hits - *hits_ <= kMostLost; }
  /// Begins with the count of a mark, unless it has begun.
  void join(std::uint64_t hits);
  /// Notes that an epoch buffer was sent, received or not.
  void see(const EpochBufferHeader& header);

  /// Epoch buffers are missing.
  void lose(std::uint64_t n_buffers) { lost_buffers_ += n_buffers; }
  /// An epoch buffer with `hits` hits, if known, is dropped.
  void drop(DropCause cause, std::uint64_t hits);
  /// An epoch buffer is delivered, for whose hits_before settle() was called.
  void deliver(const EpochBufferHeader& header) { hits_ = header.hits_before + header.n_hits; }

  /// Appends the damage between the last data, which ended at `at.begin`, and `at.end`, before which the board had sent
  /// `hits_sent`. Returns the number of hits lost on the way.
  std::uint64_t settle(std::uint64_t hits_sent, EpochRange at, FeedBatch& out);
  /// Likewise for all hits known to have been sent, at the end of a session.
  std::uint64_t settle_all(Epoch at, FeedBatch& out);

 private:
  struct Dropped {
    std::uint64_t buffers = 0;
    std::uint64_t hits = 0;
  };
  [[nodiscard]] std::uint64_t dropped_hits() const;

  std::optional<std::uint64_t> hits_;
  std::uint64_t sent_ = 0;  ///< hits of the session known to have been sent
  // Since the last data:
  std::uint64_t lost_buffers_ = 0;
  std::array<Dropped, kDropCauses> dropped_{};
  bool break_in_stream_ = false;  ///< an unknown amount of data was sent
};

}  // namespace eventloom
