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
  /// A source that others have been ahead of for so long is waited for no longer; 0: it is waited for for ever.
  std::chrono::nanoseconds epoch_timeout{};
  /// When no source has got on for so long, what has come is built without waiting for what comes next; 0: never.
  std::chrono::nanoseconds quiet{};
  std::chrono::nanoseconds stall_warning{};  ///< a source that is silent for so long is named; 0: never
  /// Epochs behind its end that a source which has ended is known to have passed: those that are sent with its last
  /// data.
  Epoch passed_at_end = 0;
  /// Epochs of its neighbours that are sent with a slice, on either side.
  Epoch margin = 0;
  /// Of the data's time; 0: it has no length.
  double epochs_per_second = 0;
  /// Where the run begins: sources that are far behind that are not with the others, however they move.
  Epoch begin = 0;
  /// No other live source is in the run: whatever its clock says is right.
  bool alone = false;
};

/// How far the foremost live source of a run was, and when.
class Frontier {
 public:
  /// Times and epochs never fall; what was so is remembered for `memory`.
  void advance(SteadyTime now, Epoch epoch, std::chrono::nanoseconds memory);
  [[nodiscard]] Epoch now() const { return newest_; }
  /// When it got where it is.
  [[nodiscard]] SteadyTime since() const { return since_; }
  /// At `time`, or a little before.
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

/// The live sources of one rank: takes in what they have, decides when one that is behind the others is waited for
/// no longer, and names those that are silent.
///
/// Time is measured by the data themselves: an epoch is overdue when another live source, of any rank, passed
/// it `epoch_timeout` ago. Sources without a common pace may be far apart, so one that moves is waited for all the
/// same as long as no other has to stop listening. A source that was given up is absent, and then nothing of it is
/// waited for at all, until it has caught up to within that time.
///
/// A source whose clock jumps is set aside at once, and is no measure for the others (LiveProgress::aside). Where it is
/// then counts when more of those that have sent within a minute have jumped there than are anywhere else.
class LiveInputs {
 public:
  /// What the ranks know together.
  struct Others {
    Epoch frontier = 0;     ///< how far the foremost source is
    bool any_full = false;  ///< any holds as much as it may
    Epoch jump = 0;         ///< where most sources have jumped to; 0: they have not
  };

  explicit LiveInputs(LivePatience patience) : patience_(patience), jumped_to_(patience.begin) {}

  /// Returns the number by which ready() knows it. `stream` must outlive this.
  std::size_t add(SourceId id, LiveStream& stream);
  [[nodiscard]] bool any() const { return !inputs_.empty(); }

  /// See LiveStream: of all of them.
  void end_at(Epoch end);
  void close();

  /// Takes in what has come; returns how many sources had something.
  std::size_t receive(SteadyTime now);
  /// Of the foremost source here.
  [[nodiscard]] Epoch peer_watermark() const;
  /// One past the last epoch of all that any source here has received or passed.
  [[nodiscard]] Epoch seen_end() const;
  /// A source here does not listen: it holds as much as it may.
  [[nodiscard]] bool any_full() const;
  /// Where the sources here are.
  [[nodiscard]] LiveVotes votes() const;
  /// Of all ranks, this one included.
  void set_others(const Others& others);
  /// Whether what an input has of `epochs` may be collected: it has come, or has been given up just now.
  [[nodiscard]] bool ready(std::size_t input, EpochRange epochs);
  /// For people: whether the input is silent, given up or full.
  [[nodiscard]] SourceState state(std::size_t input) const;
  /// An input went on when the end of the run took it to have no more to say.
  [[nodiscard]] bool cut_short(std::size_t input) const { return inputs_[input].finished != SteadyTime{}; }
  /// The run was paused, and goes on: for epoch_timeout what sources hold does not count against those that lag.
  void go_on() { paused_until_ = now_; }
  /// The run is to end: what has not come epoch_timeout from now, or in 1.5 s, is not waited for, whoever is ahead.
  void hurry();

 private:
  struct Input {
    SourceId id;
    LiveStream* stream;
    SteadyTime heard{};
    SteadyTime listens_since{};
    SteadyTime moved{};  ///< when it last got on
    Epoch was_at = 0;
    std::uint64_t late_passed = 0;    ///< see LiveProgress, as far as heeded
    std::chrono::nanoseconds told{};  ///< length of the silence when it was told last
    SteadyTime finished{};            ///< when the end of the run took it to have no more to say
    bool missing = false;             ///< others had more then
    bool aside = false;               ///< then absent, too
    std::uint32_t told_absent = 0;    ///< how often it was said that it is absent
    bool absent = false;
    Epoch absent_from = 0;
  };

  [[nodiscard]] Epoch near() const;
  void expect(Input& input) const;
  void look_for_jump(Input& input, const LiveProgress& progress);
  static void tell_absent(Input& input, const std::string& how);
  void tell_silence(Input& input);
  void look_for_return(Input& input, Epoch peer_watermark);
  void wait_longer(const Input& input);
  [[nodiscard]] bool all_quiet(EpochRange epochs) const;
  [[nodiscard]] bool has_nothing_more(const Input& input, EpochRange epochs) const;
  [[nodiscard]] bool overdue(const Input& input, EpochRange epochs) const;
  bool drained(Input& input);
  void give_up(Input& input, Epoch end);

  LivePatience patience_;
  std::vector<Input> inputs_;
  Frontier frontier_;
  Epoch jumped_to_;  ///< most sources; those that have not are left behind
  SteadyTime now_{};
  SteadyTime hurry_{};         ///< since when
  SteadyTime paused_until_{};  ///< the last time
  bool others_full_ = false;
};

}  // namespace eventloom
