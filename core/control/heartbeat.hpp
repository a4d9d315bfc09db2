#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/control/message_channel.hpp"
#include "formats/control_wire.hpp"

namespace eventloom {

/// Keeps the ranks of a run informed of each other, in rounds: each rank reports to rank 0, which combines the reports
/// and sends all ranks the verdict. A rank begins its next round once it has the verdict of the last, so all ranks make
/// the same decisions in the same round, and a silent rank is known by name.
///
/// The last round is the one in which all ranks are done or any has failed. Not thread-safe. Throws std::runtime_error
/// if the ranks cannot reach each other.
class Heartbeat {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// `channel`: this rank's, used only for the heartbeat; the run has `size` ranks. `notice`: after this long rank 0
  /// informs the others which rank it waits for, again each time the wait has doubled, and at least every
  /// `longest_notice`.
  Heartbeat(std::unique_ptr<MessageChannel> channel, int rank, int size, Duration notice, Duration longest_notice);
  /// Collective, like the channel's destruction; after the last round, or when the program ends with an error.
  ~Heartbeat() = default;
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Never blocks. Each rank calls it every turn, but not after the last round. Returns the verdict of a round that has
  /// ended, if any.
  std::optional<Verdict> do_work(Time now, const RankStatus& mine);

  /// How often this rank has reported; a request must not be in more than one report.
  [[nodiscard]] std::uint64_t reports_made() const { return reports_made_; }

  /// The ranks waited for, and for how long: on rank 0 all of them, elsewhere the lowest if known, or rank 0. Empty
  /// while all ranks respond.
  struct Silence {
    std::vector<int> ranks;
    Duration lasts{};
  };
  [[nodiscard]] Silence silence(Time now) const;
  /// This rank could not receive for `absence`: that time does not count as silence of the others.
  void leave_out(Duration absence);
  /// On rank 0: notifies the ranks that have reported that the program is about to end; see reported_to_end().
  void report_to_end();
  [[nodiscard]] bool reported_to_end() const { return reported_to_end_; }

 private:
  void report(Time now, const RankStatus& mine);
  void receive(Time now);
  void take_report(int rank, const RankStatus& status);
  void take_note(Time now, const HeartbeatNote& note);
  void conclude(Time now);
  void report_of_waiting(Time now);
  void report_waiting_ones(const HeartbeatNote& note);
  void send(int to, const HeartbeatNote& note);
  [[nodiscard]] int first_missing() const;

  std::unique_ptr<MessageChannel> channel_;
  int rank_;
  int size_;
  Duration notice_;
  Duration longest_notice_;
  Duration interval_;
  std::optional<Verdict> verdict_;  ///< not yet returned
  RankStatus reported_;
  std::uint64_t reports_made_ = 0;
  bool in_round_ = false;  ///< has reported, and waits for the verdict
  bool greeted_ = false;   ///< has taken part in a round
  Time round_ended_{};     ///< when the last round ended
  Time next_look_{};
  Time heard_{};         ///< when rank 0 was last heard; on rank 0 the beginning of the round
  int waited_for_ = -1;  ///< the rank that rank 0 waits for, -1: unknown
  bool reported_to_end_ = false;
  std::vector<RankStatus> reports_;    ///< on rank 0, indexed by rank
  std::vector<std::uint8_t> is_here_;  ///< on rank 0, indexed by rank: has reported in this round
  int n_here_ = 0;
  Duration next_notice_{};
  std::vector<std::byte> buffer_;
};

}  // namespace eventloom
