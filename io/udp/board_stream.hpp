#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/datagram.hpp"
#include "io/files/defect_log.hpp"
#include "io/live/live_feed.hpp"
#include "io/udp/board_account.hpp"
#include "io/udp/board_header.hpp"
#include "io/udp/board_position.hpp"
#include "io/udp/board_session.hpp"
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

  /// `header` receives the header datagrams and must outlive this object.
  BoardStream(const std::string& name, BoardHeader& header)
      : header_(header), defect_log_(name), position_(header.base()) {}

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
  [[nodiscard]] std::optional<std::uint32_t> session() const { return session_.id(); }
  /// Whether data are waiting, so that pass_time() must be called soon.
  [[nodiscard]] bool waiting() const { return fragments_.waiting(); }
  [[nodiscard]] bool heard() const { return session_.has_begun(); }
  [[nodiscard]] bool ended() const { return session_.ended(); }
  [[nodiscard]] std::size_t held_bytes() const { return fragments_.held_bytes(); }
  /// The board's own count of the hits that are delivered or in a Damage; std::nullopt before it has stated any.
  [[nodiscard]] std::optional<PeerCount> sent() const {
    if (!session_.has_begun() || !account_.has_begun()) return std::nullopt;
    return PeerCount{*session_.id(), *account_.hits()};
  }
  /// Counts of the data received, and of their losses.
  [[nodiscard]] Counters counters() const;
  /// See LiveFeed::anomalies().
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }

 private:
  bool is_of_session(const DatagramHeader& header, std::int64_t now_ns, FeedBatch& out);
  void begin_session(const DatagramHeader& header, bool resumed, FeedBatch& out);
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
  void drop(const BufferRefusal& refusal, const std::optional<EpochBufferHeader>& header, std::uint64_t sequence);
  [[nodiscard]] std::string jump_text(std::uint64_t sequence, Epoch to) const;
  [[nodiscard]] const char* defect(const std::optional<EpochBufferHeader>& header, const WholeBuffer& whole) const;
  std::optional<BufferRefusal> misplaced(const EpochBufferHeader& header, std::int64_t now_ns);
  void settle(std::uint64_t hits_sent, Epoch until, FeedBatch& out);
  void settle_beginning(std::uint64_t hits_sent, Epoch first, FeedBatch& out);
  /// Whether the board is heard from its beginning, and no buffer of it has been delivered.
  [[nodiscard]] bool awaits_first() const { return hears_all_ && counters_[Metric::buffers] == 0; }

  BoardHeader& header_;
  DefectLog defect_log_;
  ReassemblyBuffer fragments_;
  ResendRequests requests_;
  std::vector<std::byte> request_;  ///< the last datagram that request() returned
  bool resends_ = false;
  bool begins_ = false;     ///< the session's beginning may be requested
  bool hears_all_ = false;  ///< the board has been heard from its beginning
  BoardSession session_;
  BoardPosition position_;
  BoardAccount account_;
  bool refused_ = false;   ///< the header does not match the run
  bool finished_ = false;  ///< the run has ended
  std::uint64_t anomalies_ = 0;
  std::uint64_t reordered_before_ = 0;  ///< fragments reordered in earlier sessions
  Counters counters_{Metric::datagrams,          Metric::bytes,     Metric::buffers,          Metric::hits,
                     Metric::duplicates,         Metric::reordered, Metric::pieces_requested, Metric::pieces_recovered,
                     Metric::lost_buffers,       Metric::lost_hits, Metric::contradictions,   Metric::restarts,
                     Metric::former_session,     Metric::after_end, Metric::corrupt_buffers,  Metric::late_buffers,
                     Metric::out_of_step_buffers};
};

}  // namespace eventloom
