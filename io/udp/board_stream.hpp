#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/datagram.hpp"
#include "formats/event.hpp"
#include "io/files/defect_log.hpp"
#include "io/live/live_feed.hpp"
#include "io/udp/board_header.hpp"
#include "io/udp/reassembly_buffer.hpp"
#include "io/udp/resend_requests.hpp"

namespace eventloom {

/// Reconstructs the stream of one board from its datagrams: checked epoch buffers in order; missing or unused data
/// become damage. Independent of sockets and clocks: times are arrival times in ns of any monotonic clock.
///
/// Hits are accounted for by `hits_before` of the epoch buffers and by the marks. If the beginning of a session was
/// received, all of its hits are delivered or in a Damage; otherwise, those from the first epoch buffer received on
/// are. A Damage begins at the end of the last epoch buffer delivered, or at the last mark.
///
/// Epochs ascend, except where the board jumps: forwards, or back by more than is accepted between neighbours. The
/// caller decides whether the run can use the data after a jump.
class BoardStream {
 public:
  /// Time to wait for a missing datagram. Networks reorder within microseconds to a few milliseconds.
  static constexpr std::int64_t kPatience_ns = 50'000'000;
  /// Likewise for a board that resends data on request: enough time for some thirty requests.
  static constexpr std::int64_t kResendPatience_ns = 250'000'000;
  /// Data time between neighbours that is accepted at once, in addition to the time passed: clock differences between
  /// boards and pauses between spills are shorter.
  static constexpr double kMostJump_s = 60;
  /// A greater jump, forwards or back, is accepted when this many consecutive epoch buffers agree on it.
  static constexpr std::uint32_t kJumpBuffers = 8;
  /// A former session is resumed once its successor has been silent for this long, so that a stray datagram does not
  /// silence a board.
  static constexpr std::int64_t kSessionSilence_ns = 1'000'000'000;
  /// More hits than a board can lose between neighbours, ten hours at 25 MHz: larger counts are wrong.
  static constexpr std::uint64_t kMostHitsLost = std::uint64_t{1} << 40;

  /// `header` receives the header datagrams and must outlive this object.
  BoardStream(const std::string& name, BoardHeader& header) : header_(header), defect_log_(name) {}

  /// Takes a datagram of this board. Appends the data that can be delivered now to `out` and sets its `complete` and
  /// `ended`.
  void take(const Datagram& datagram, std::int64_t now_ns, FeedBatch& out);
  /// Gives up data that have been missing for too long. Call only after taking all datagrams that have arrived.
  void pass_time(std::int64_t now_ns, FeedBatch& out);
  /// Gives up all missing data and ends the stream. Later datagrams are ignored.
  void finish(FeedBatch& out);

  /// A datagram of at most `most_bytes` that requests missing data, if the board accepts requests and one is due;
  /// otherwise empty. Call only after taking all datagrams that have arrived. Valid until the next call.
  std::span<const std::byte> request(std::int64_t now_ns, std::size_t most_bytes);

  /// Whether the board has announced that it accepts requests.
  [[nodiscard]] bool resends() const { return resends_; }
  [[nodiscard]] std::optional<std::uint32_t> session() const { return session_; }
  /// Whether data are waiting, so that pass_time() must be called soon.
  [[nodiscard]] bool waiting() const { return fragments_.waiting(); }
  [[nodiscard]] bool heard() const { return session_.has_value(); }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::size_t held_bytes() const { return fragments_.held_bytes(); }
  /// The board's own count of the hits that are delivered or in a Damage; std::nullopt before it has stated any.
  [[nodiscard]] std::optional<PeerCount> sent() const {
    if (!session_ || !accounted_) return std::nullopt;
    return PeerCount{*session_, *accounted_};
  }
  /// Counts of the data received, and of their losses.
  [[nodiscard]] Counters counters() const;
  /// See LiveFeed::anomalies().
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }

 private:
  struct Dropped {
    std::uint64_t buffers = 0;
    std::uint64_t hits = 0;
  };
  /// Data known to be missing since the last epoch buffer was delivered.
  struct Gap {
    std::uint64_t buffers = 0;
    std::array<Dropped, kDropCauses> dropped{};
    bool break_in_stream = false;  ///< an unknown amount of data was sent
    [[nodiscard]] std::uint64_t dropped_hits() const;
  };
  struct Refusal {
    DropCause cause = DropCause::corrupt;
    const char* reason = "";
  };
  /// Consecutive epoch buffers that agree with each other but not with earlier ones.
  struct Jump {
    std::uint32_t buffers = 0;
    Epoch end = 0;
  };

  /// Position of the stream before it jumped.
  struct Former {
    Epoch next = 0;
    std::int64_t ns = 0;
  };

  bool is_of_session(const DatagramHeader& header, std::int64_t now_ns, FeedBatch& out);
  void begin_session(const DatagramHeader& header, FeedBatch& out);
  void close_session(FeedBatch& out);
  void note_after_end();
  void take_header(const Datagram& datagram);
  void put(const Datagram& datagram, std::int64_t now_ns);
  void clear_window();
  void drain(std::int64_t noticed_by, std::int64_t now_ns, FeedBatch& out);

  void accept(const WholeBuffer& whole, std::int64_t now_ns, FeedBatch& out);
  void accept(const MissingBuffers& missing, std::int64_t now_ns, FeedBatch& out);
  void accept(const MarkReached& reached, std::int64_t now_ns, FeedBatch& out);
  void hand_over(const EpochBufferHeader& header, const WholeBuffer& whole, std::int64_t now_ns, FeedBatch& out);
  void drop(const Refusal& refusal, const std::optional<EpochBufferHeader>& header, std::uint64_t sequence);

  [[nodiscard]] const char* defect(const std::optional<EpochBufferHeader>& header, const WholeBuffer& whole) const;
  std::optional<Refusal> misplaced(const EpochBufferHeader& header, std::int64_t now_ns);
  [[nodiscard]] bool counts_fit(const EpochBufferHeader& header) const;
  void count_hits_of(const EpochBufferHeader& header);
  [[nodiscard]] bool in_step(Epoch from, Epoch to, std::int64_t passed_ns) const;
  [[nodiscard]] bool is_far(EpochRange epochs, std::int64_t now_ns) const;
  bool is_believed(const EpochBufferHeader& header, std::int64_t now_ns);

  void account_for_gap(std::uint64_t hits_sent, Epoch until, FeedBatch& out);
  void damage(DropCause cause, std::uint64_t hits, Epoch until, FeedBatch& out) const;

  BoardHeader& header_;
  DefectLog defect_log_;
  ReassemblyBuffer fragments_;
  ResendRequests requests_;
  std::vector<std::byte> request_;  ///< the last datagram that request() returned
  bool resends_ = false;
  bool begins_ = false;  ///< the session's beginning may be requested
  Gap gap_;
  Jump jump_;
  std::optional<Former> former_;
  std::optional<std::uint32_t> session_;
  std::uint32_t source_ = 0;
  std::deque<std::uint32_t> former_sessions_;
  std::int64_t session_ns_ = 0;             ///< arrival time of the session's last datagram
  std::optional<std::uint64_t> accounted_;  ///< hits of the session delivered or in a Damage
  std::uint64_t known_hits_ = 0;            ///< hits of the session known to have been sent
  Epoch next_ = 0;                          ///< no data before it are pending
  Epoch session_begin_ = 0;                 ///< next_ when the session began
  bool placed_ = false;                     ///< next_ is the position of the stream
  std::int64_t placed_ns_ = 0;              ///< time of that position
  bool refused_ = false;                    ///< the header does not match the run
  bool ended_ = false;
  std::uint64_t end_sequence_ = 0;  ///< number of epoch buffers sent before the end
  bool finished_ = false;           ///< the run has ended
  std::uint64_t anomalies_ = 0;
  std::uint64_t reordered_before_ = 0;  ///< fragments reordered in earlier sessions
  Counters counters_{Metric::datagrams,          Metric::bytes,     Metric::buffers,          Metric::hits,
                     Metric::duplicates,         Metric::reordered, Metric::pieces_requested, Metric::pieces_recovered,
                     Metric::lost_buffers,       Metric::lost_hits, Metric::contradictions,   Metric::restarts,
                     Metric::former_session,     Metric::after_end, Metric::corrupt_buffers,  Metric::late_buffers,
                     Metric::out_of_step_buffers};
};

}  // namespace eventloom
