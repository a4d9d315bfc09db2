#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/live_stream.hpp"
#include "core/engine/role.hpp"
#include "core/runtime/message_limit.hpp"
#include "formats/control_wire.hpp"
#include "formats/ids.hpp"
#include "formats/telemetry_wire.hpp"

namespace eventloom {

struct LivePatience {
  /// A source that has been behind others for this long is given up; 0: never.
  std::chrono::nanoseconds epoch_timeout{};
  /// After this long without progress of any source, the data received are built without waiting for more; 0: never.
  std::chrono::nanoseconds quiet{};
  std::chrono::nanoseconds stall_warning{};  ///< warn of a source silent for this long; 0: never
  /// After it ends, a source counts as having passed this many epochs beyond its end: those sent with its last data.
  Epoch passed_at_end = 0;
  /// Per second of data time; 0: epochs have no length in seconds.
  double epochs_per_second = 0;
  /// First epoch of the run: a source far before it is left behind, even if it makes progress.
  Epoch begin = 0;
  /// The run has only one live source: its clock is always right.
  bool alone = false;
};

/// Position of the foremost live source of a run, over time.
class Frontier {
 public:
  /// Times must not decrease; an epoch lower than before changes nothing. The last `memory` of history is kept.
  void advance(SteadyTime now, Epoch epoch, std::chrono::nanoseconds memory);
  [[nodiscard]] Epoch now() const { return newest_; }
  /// When it reached now().
  [[nodiscard]] SteadyTime since() const { return since_; }
  /// The position at `time`, or slightly before.
  [[nodiscard]] Epoch at(SteadyTime time) const;

 private:
  struct Mark {
    SteadyTime time;
    Epoch epoch;
  };
  std::deque<Mark> marks_;
  Epoch newest_ = 0;
  SteadyTime since_{};
};

/// The live sources of one rank: receives their data, decides when to give up a source that is behind the others, and
/// reports silent ones.
///
/// The data themselves measure time: an epoch is overdue when another live source, of any rank, passed it
/// `epoch_timeout` ago. Sources without a common pace may be far apart, so the run waits for one in motion while
/// no other is full. A source that was given up is absent: its data are not waited for until it has caught up to
/// within that time.
///
/// A source whose clock jumps is set aside at once, and no longer measures time for the others (LiveProgress::aside).
/// Its jump is accepted once more than half of the sources heard within a minute have jumped to the same place.
class LiveInputs {
 public:
  /// The state of the sources of all ranks.
  struct Others {
    Epoch frontier = 0;     ///< position of the foremost source
    bool any_full = false;  ///< any source is full
    Epoch jump = 0;         ///< position that most sources have jumped to; 0: none
  };

  explicit LiveInputs(LivePatience patience) : patience_(patience), jumped_to_(patience.begin) {}

  /// Returns the index of the input, for request(). `stream` must outlive this object. `lead`: epochs from the first
  /// one sent for a slice to the first that may hold data of the slice itself, from any source, not only of the margin
  /// before it.
  std::size_t add(SourceId id, LiveStream& stream, std::int64_t lead);
  [[nodiscard]] bool any() const { return !inputs_.empty(); }

  /// Calls LiveStream::finish() on all inputs, then LiveStream::close().
  void close();

  /// Takes in the data that have arrived; returns the number of sources that had any.
  std::size_t receive(SteadyTime now);
  /// The farthest position received of the sources on this rank.
  [[nodiscard]] Epoch received() const;
  /// One past the last epoch that any source on this rank has received or passed.
  [[nodiscard]] Epoch seen_end() const;
  /// Whether a source on this rank accepts no data because it is full.
  [[nodiscard]] bool any_full() const;
  /// Positions of the sources on this rank, as votes on where the run is.
  [[nodiscard]] LiveVotes votes() const;
  /// `others` covers all ranks, including this one.
  void set_others(const Others& others);
  /// Requests the data of an input for `epochs`; returns whether they may be collected. May give the source up first;
  /// data that have not arrived are then missing.
  [[nodiscard]] bool request(std::size_t input, EpochRange epochs);
  /// State for display: silent, given up, full or live.
  [[nodiscard]] SourceState state(std::size_t input) const;
  /// Whether the end of the run finished an input that had not ended on its own.
  [[nodiscard]] bool cut_short(std::size_t input) const { return inputs_[input].finished != SteadyTime{}; }
  /// The run ends before this epoch of the input, see LiveStream::finish().
  void end_at(std::size_t input, Epoch end) { inputs_[input].run_end = end; }
  /// Resumes after a pause: for epoch_timeout, full sources do not cause those behind to be given up.
  void resume() { paused_until_ = now_; }
  /// The run is about to end: data that have not arrived within epoch_timeout or 1.5 s from now, whichever is shorter,
  /// are given up, even if no other source is ahead.
  void hurry();

 private:
  struct Input {
    SourceId id;
    LiveStream* stream;
    std::int64_t lead = 0;
    SteadyTime heard{};
    SteadyTime listens_since{};
    SteadyTime moved{};  ///< when it last made progress
    Epoch was_at = 0;
    std::uint64_t late_passed = 0;        ///< last value seen, see LiveProgress
    std::chrono::nanoseconds reported{};  ///< length of the silence when it was last reported
    std::optional<Epoch> run_end{};       ///< see end_at()
    SteadyTime finished{};                ///< when the end of the run finished it
    bool missing = false;                 ///< others were ahead when it was finished
    bool aside = false;                   ///< set aside; implies absent
    MessageLimit reported_absent{};       ///< warnings that it is absent
    bool absent = false;
    Epoch absent_from = 0;
  };

  [[nodiscard]] Epoch near() const;
  void advance(Epoch frontier);
  void expect(Input& input) const;
  void look_for_jump(Input& input, const LiveProgress& progress);
  static void report_absent(Input& input, const std::string& how);
  void report_silence(Input& input);
  void look_for_return(Input& input, Epoch received);
  void wait_longer(const Input& input);
  [[nodiscard]] bool all_quiet(const Input& input, EpochRange epochs) const;
  [[nodiscard]] bool has_nothing_more(const Input& input, EpochRange epochs) const;
  [[nodiscard]] static bool is_optional(const Input& input);
  [[nodiscard]] static Epoch reached(const Input& input);
  [[nodiscard]] bool is_dispensable(const Input& input, EpochRange epochs) const;
  [[nodiscard]] bool overdue(const Input& input, EpochRange epochs) const;
  bool drained(Input& input);
  bool give_up(Input& input, Epoch end);

  LivePatience patience_;
  std::vector<Input> inputs_;
  Frontier frontier_;
  Epoch jumped_to_;  ///< position that most sources have jumped to; those before it are left behind
  SteadyTime now_{};
  SteadyTime hurry_{};         ///< since when the run is about to end
  SteadyTime paused_until_{};  ///< end of the last pause
  bool others_full_ = false;
};

}  // namespace eventloom
