#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "formats/datagram.hpp"

namespace eventloom {

/// The sessions of one board: who sends, since when it has been silent, which sessions came before, and the end of its
/// stream. Times are arrival times in ns of any monotonic clock.
class BoardSession {
 public:
  /// A former session is resumed once its successor has been silent for this long, so that a stray datagram does not
  /// silence a board.
  static constexpr std::int64_t kSilence_ns = 1'000'000'000;
  /// Number of former sessions remembered; more senders than can be confused with one another.
  static constexpr std::size_t kFormer = 8;
  /// Number of epoch buffers that a board may have sent since its header, all of them lost: as many as a burst of
  /// losses may cost. Of more, most were sent before the header.
  static constexpr std::uint64_t kFirstBuffers = 8;

  /// The session that a datagram belongs to.
  enum class Sender : std::uint8_t {
    present,  ///< the present session
    next,     ///< a session that begins: the first, or a successor of the present one
    resumed,  ///< a former session, which replaces the present one, which is silent
    former,   ///< a former one, while the present one is not silent
  };
  [[nodiscard]] Sender sender_of(const DatagramHeader& header, std::int64_t now_ns) const;

  /// The datagram's session becomes the present one.
  void begin(const DatagramHeader& header);
  /// Notes a datagram of the present session.
  void note(std::int64_t now_ns) { heard_ns_ = now_ns; }
  /// Notes a header datagram.
  void note_header() { opened_ = true; }
  /// Call for each datagram of kind data, mark or end. True once, if the board has been heard from its beginning: its
  /// first session, whose header came before this datagram, the first of these kinds, which is among its first.
  bool hears_beginning(const DatagramHeader& header);
  /// The stream ends before epoch buffer `sequence` of the present session; no session that follows changes this.
  void end(std::uint64_t sequence);

  [[nodiscard]] bool has_begun() const { return id_.has_value(); }
  [[nodiscard]] std::optional<std::uint32_t> id() const { return id_; }
  /// The source that the present session states.
  [[nodiscard]] std::uint32_t source() const { return source_; }
  /// Arrival time of the present session's last datagram.
  [[nodiscard]] std::int64_t heard_ns() const { return heard_ns_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether a datagram of kind data repeats data sent before the end.
  [[nodiscard]] bool repeats(const DatagramHeader& header) const {
    return header.session == id_ && header.sequence < end_sequence_;
  }

 private:
  std::optional<std::uint32_t> id_;
  std::uint32_t source_ = 0;
  std::deque<std::uint32_t> former_;
  bool opened_ = false;  ///< the header of the present session has come
  bool joined_ = false;  ///< its data, or a mark, have come
  std::int64_t heard_ns_ = 0;
  bool ended_ = false;
  std::uint64_t end_sequence_ = 0;
};

}  // namespace eventloom
