#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/dataflow/live_stream.hpp"
#include "core/engine/role.hpp"
#include "formats/control_wire.hpp"
#include "formats/ids.hpp"
#include "formats/telemetry_wire.hpp"

namespace eventloom {

struct LivePatience {
  /// A source that has been behind others for this long is given up; 0: never.
  std::chrono::nanoseconds epoch_timeout{};
  /// After this long without progress of any source, the data received are built without waiting for more; 0: never.
  std::chrono::nanoseconds quiet{};
  std::chrono::nanoseconds stall_warning{};  ///< a source silent for this long is named; 0: never
  /// Epochs after its end that a source which has ended counts as having passed: those sent with its last data.
  Epoch passed_at_end = 0;
  /// By the time of the data; 0: their epochs have no length in seconds.
  double epochs_per_second = 0;
  /// First epoch of the run: a source far before it is left behind, even if it makes progress.
  Epoch begin = 0;
  /// The run has only one live source: its clock is always right.
  bool alone = false;
};

/// How far the foremost live source of a run was, over time.
class Frontier {
 public:
  /// Times must not fall; an epoch lower than before changes nothing. The past is remembered for `memory`.
  void advance(SteadyTime now, Epoch epoch, std::chrono::nanoseconds memory);
  [[nodiscard]] Epoch now() const { return newest_; }
  /// When it reached now().
  [[nodiscard]] SteadyTime since() const { return since_; }
  /// Where it was at `time`, or a little earlier.
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

/// The live sources of one rank: receives their data, decides when one that is behind the others is given up, and names
/// those that are silent.
///
/// The data themselves measure time: an epoch is overdue when another live source, of any rank, passed it
/// `epoch_timeout` ago. Sources without a common pace may be far apart, so one that makes progress is still waited for,
/// as long as no other is full. A source that was given up is absent: nothing of it is waited for until it has caught
/// up to within that time.
///
/// A source whose clock jumps is set aside at once, and no longer measures time for the others (LiveProgress::aside).
/// Its jump is accepted once more than half of the sources heard within a minute have jumped to the same place.
class LiveInputs {
 public:
  /// The state of the sources of all ranks.
  struct Others {
    Epoch frontier = 0;     ///< how far the foremost source is
    bool any_full = false;  ///< any source holds as much as it may
    Epoch jump = 0;         ///< where most sources have jumped to; 0: nowhere
  };

  explicit LiveInputs(LivePatience patience) : patience_(patience), jumped_to_(patience.begin) {}

  /// Returns the number of the input, for ready(). `stream` must outlive this object. `lead`: epochs from the first
  /// that is sent for a slice to where data of any source may lie in that slice, and not only in the margin before it.
  std::size_t add(SourceId id, LiveStream& stream, std::int64_t lead);
  [[nodiscard]] bool any() const { return !inputs_.empty(); }

  /// As in LiveStream, for all inputs.
  void close();

  /// Takes in the data that have arrived; returns the number of sources that had any.
  std::size_t receive(SteadyTime now);
  /// That of the foremost source on this rank.
  [[nodiscard]] Epoch peer_watermark() const;
  /// One past the last epoch that any source on this rank has received or passed.
  [[nodiscard]] Epoch seen_end() const;
  /// Whether a source on this rank takes no data because it holds as much as it may.
  [[nodiscard]] bool any_full() const;
  /// Where the sources on this rank are.
  [[nodiscard]] LiveVotes votes() const;
  /// `others`: of all ranks, this one included.
  void set_others(const Others& others);
  /// Whether the data of an input for `epochs` may be collected. May give the source up first: then what has not
  /// arrived is missing.
  [[nodiscard]] bool ready(std::size_t input, EpochRange epochs);
  /// For people: whether the input is silent, given up or full.
  [[nodiscard]] SourceState state(std::size_t input) const;
  /// Whether the end of the run finished an input that had not ended by itself.
  [[nodiscard]] bool cut_short(std::size_t input) const { return inputs_[input].finished != SteadyTime{}; }
  /// The run resumes after a pause: for epoch_timeout, that some sources are full does not count against those behind.
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
    std::uint64_t late_passed = 0;    ///< see LiveProgress; as last seen
    std::chrono::nanoseconds told{};  ///< length of the silence when it was last reported
    SteadyTime finished{};            ///< when the end of the run finished it
    bool missing = false;             ///< others were ahead then
    bool aside = false;               ///< set aside, and then absent, too
    std::uint32_t told_absent = 0;    ///< warnings that it is absent
    bool absent = false;
    Epoch absent_from = 0;
  };

  [[nodiscard]] Epoch near() const;
  void advance(Epoch frontier);
  void expect(Input& input) const;
  void look_for_jump(Input& input, const LiveProgress& progress);
  static void tell_absent(Input& input, const std::string& how);
  void tell_silence(Input& input);
  void look_for_return(Input& input, Epoch peer_watermark);
  void wait_longer(const Input& input);
  [[nodiscard]] bool all_quiet(const Input& input, EpochRange epochs) const;
  [[nodiscard]] bool has_nothing_more(const Input& input, EpochRange epochs) const;
  [[nodiscard]] static bool is_optional(const Input& input);
  [[nodiscard]] static Epoch reached(const Input& input);
  [[nodiscard]] bool is_dispensable(const Input& input, EpochRange epochs) const;
  [[nodiscard]] bool overdue(const Input& input, EpochRange epochs) const;
  bool drained(Input& input);
  void give_up(Input& input, Epoch end);

  LivePatience patience_;
  std::vector<Input> inputs_;
  Frontier frontier_;
  Epoch jumped_to_;  ///< by most sources; those before it are left behind
  SteadyTime now_{};
  SteadyTime hurry_{};         ///< since when the run is about to end
  SteadyTime paused_until_{};  ///< end of the last pause
  bool others_full_ = false;
};

}  // namespace eventloom
