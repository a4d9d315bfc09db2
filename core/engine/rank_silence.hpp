#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/control/heartbeat.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/role.hpp"

namespace eventloom {

/// Reports ranks that do not answer, and a run in which nothing progresses, and ends the program when a rank is lost or
/// silent for longer than the user allows. One per rank; of each condition only one rank reports, so that each line
/// appears once. Neither collective nor thread-safe.
class RankSilence {
 public:
  /// `watch` and `heartbeat` must outlive this object. `rank`: this one.
  RankSilence(RankWatch& watch, Heartbeat& heartbeat, int rank) : watch_(watch), heartbeat_(heartbeat), rank_(rank) {}

  /// Call at the beginning of every turn. Excludes the time without turns from the silence of the others. Ends the
  /// program once a rank of this host is lost and the others have had time to notice it.
  void begin_turn(SteadyTime now);
  /// Call after each round, with the verdict's sum of progress. `may_rest`: a run that progresses as it should may make
  /// no progress, because it is paused or keeps a pace. `begun_end`: one past the highest slice begun.
  void note_round(SteadyTime now, std::uint64_t progress, bool may_rest, std::uint64_t begun_end);
  /// Call at the end of every turn. Ends the program after too long a silence, or because rank 0 does.
  void look(SteadyTime now);

  /// Why this rank is about to end the program; empty if it is not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  void end_after_loss(SteadyTime now, int lost);
  void end_as_reported(SteadyTime now);
  void report(const Heartbeat::Silence& silence);
  void report_on_termination(const Heartbeat::Silence& silence);
  void end_after_silence(SteadyTime now, const Heartbeat::Silence& silence);
  [[nodiscard]] bool speaks_about(int rank) const { return rank_ == (rank == 0 ? 1 : 0); }

  RankWatch& watch_;
  Heartbeat& heartbeat_;
  int rank_;
  std::string failure_;
  SteadyTime last_turn_{};
  SteadyTime next_look_{};
  SteadyTime loss_seen_{};
  SteadyTime reported_to_end_{};
  SteadyTime ending_{};                  ///< when this rank decided to end because a rank is silent
  std::chrono::nanoseconds reported_{};  ///< length of the silence when it was last reported
  bool reported_termination_ = false;
  std::uint64_t seen_progress_ = 0;
  SteadyTime moved_{};
  std::chrono::nanoseconds reported_standstill_{};
};

}  // namespace eventloom
