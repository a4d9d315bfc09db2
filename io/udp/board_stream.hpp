#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "formats/datagram.hpp"
#include "formats/event.hpp"
#include "io/live/live_feed.hpp"
#include "io/udp/board_complaints.hpp"
#include "io/udp/board_header.hpp"
#include "io/udp/fragment_window.hpp"

namespace eventloom {

/// The stream of one board out of its datagrams: epoch buffers in order, each checked, and what is missing or not
/// used as damage. Knows no sockets and no clock: times are those of arrival, ns of any clock that never goes back.
///
/// Hits are accounted for by `hits_before` of the epoch buffers and by the marks: those of a session that begins
/// while its datagrams are listened to are all handed over or in a Damage; of one that was under way, those from the
/// first epoch buffer heard on. A Damage begins where the last epoch buffer handed over ends, or the last mark was.
///
/// Epochs rise, but where the board jumps: forwards, or back by more than is believed of neighbours. Whether the run
/// can take what comes then is not decided here.
class BoardStream {
 public:
  /// How long a missing datagram is waited for. Networks reorder within microseconds to a few milliseconds.
  static constexpr std::int64_t kPatience_ns = 50'000'000;
  /// Data time between neighbours that is believed at once, besides the time that has passed: clocks of boards and
  /// times of spills lie below.
  static constexpr double kMostJump_s = 60;
  /// So many epoch buffers in a row that agree on a greater jump, or on one back by as much, are believed.
  static constexpr std::uint32_t kJumpBuffers = 8;
  /// A session that another has followed is taken up again when that one has been silent for so long: whoever sends
  /// one stray datagram does not silence a board.
  static constexpr std::int64_t kSessionSilence_ns = 1'000'000'000;
  /// More hits than any board can lose between neighbours, ten hours at 25 MHz: their counts are wrong.
  static constexpr std::uint64_t kMostHitsLost = std::uint64_t{1} << 40;

  /// `header` is told of header datagrams; must outlive this.
  BoardStream(const std::string& name, BoardHeader& header) : header_(header), complaints_(name) {}

  /// A datagram of this board. Appends to `out` what can be handed over now and sets its `complete` and `ended`.
  void take(const Datagram& datagram, std::int64_t now_ns, FeedBatch& out);
  /// Time has passed: gives up what has been missing for too long. To be called only when no datagram that has
  /// arrived waits to be taken.
  void pass_time(std::int64_t now_ns, FeedBatch& out);
  /// The run takes no more: gives up what is missing and ends. What still comes is no concern of it.
  void finish(FeedBatch& out);

  /// pass_time() has something to do before long.
  [[nodiscard]] bool waiting() const { return window_.waiting(); }
  [[nodiscard]] bool heard() const { return session_.has_value(); }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::size_t held_bytes() const { return window_.held_bytes(); }
  /// What the board has sent, and what has become of it.
  [[nodiscard]] Counters counters() const;
  /// As LiveFeed::anomalies().
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }

 private:
  struct Dropped {
    std::uint64_t buffers = 0;
    std::uint64_t hits = 0;
  };
  /// What is known to be missing since the last epoch buffer was handed over.
  struct Gap {
    std::uint64_t buffers = 0;
    std::array<Dropped, kDropCauses> dropped{};
    bool break_in_stream = false;  ///< nobody knows what was sent
    [[nodiscard]] std::uint64_t dropped_hits() const;
  };
  struct Verdict {
    DropCause cause = DropCause::corrupt;
    const char* reason = "";
  };
  /// Epoch buffers in a row that agree with each other, not with what was before.
  struct Jump {
    std::uint32_t buffers = 0;
    Epoch end = 0;
  };

  /// Where the stream was before it jumped.
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
  void drop(const Verdict& verdict, const std::optional<EpochBufferHeader>& header, std::uint64_t sequence);

  [[nodiscard]] const char* defect(const std::optional<EpochBufferHeader>& header, const WholeBuffer& whole) const;
  std::optional<Verdict> misplaced(const EpochBufferHeader& header, std::int64_t now_ns);
  [[nodiscard]] bool counts_fit(const EpochBufferHeader& header) const;
  void count_hits_of(const EpochBufferHeader& header);
  [[nodiscard]] bool in_step(Epoch from, Epoch to, std::int64_t passed_ns) const;
  [[nodiscard]] bool is_far(EpochRange epochs, std::int64_t now_ns) const;
  bool is_believed(const EpochBufferHeader& header, std::int64_t now_ns);

  void settle_gap(std::uint64_t hits_sent, Epoch until, FeedBatch& out);
  void damage(DropCause cause, std::uint64_t hits, Epoch until, FeedBatch& out) const;

  BoardHeader& header_;
  BoardComplaints complaints_;
  FragmentWindow window_;
  Gap gap_;
  Jump jump_;
  std::optional<Former> former_;
  std::optional<std::uint32_t> session_;
  std::uint32_t source_ = 0;
  std::deque<std::uint32_t> former_sessions_;
  std::int64_t session_ns_ = 0;             ///< last datagram of the session
  std::optional<std::uint64_t> accounted_;  ///< hits of the session handed over or in a damage
  std::uint64_t known_hits_ = 0;            ///< hits of the session known to have been sent
  Epoch next_ = 0;                          ///< nothing before has yet to come
  Epoch session_begin_ = 0;                 ///< next_ when the session began
  bool placed_ = false;                     ///< next_ says where the stream is
  std::int64_t placed_ns_ = 0;              ///< when it was set
  bool refused_ = false;                    ///< by the header
  bool ended_ = false;
  bool finished_ = false;  ///< by the run
  std::uint64_t anomalies_ = 0;
  std::uint64_t reordered_before_ = 0;  ///< in former sessions
  Counters counters_{Metric::datagrams,
                     Metric::bytes,
                     Metric::buffers,
                     Metric::hits,
                     Metric::duplicates,
                     Metric::reordered,
                     Metric::lost_buffers,
                     Metric::lost_hits,
                     Metric::contradictions,
                     Metric::restarts,
                     Metric::former_session,
                     Metric::after_end,
                     Metric::corrupt_buffers,
                     Metric::late_buffers,
                     Metric::out_of_step_buffers};
};

}  // namespace eventloom
