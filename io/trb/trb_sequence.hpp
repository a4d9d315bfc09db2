#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Receives the decisions about the events of a board.
class TrbSink {
 public:
  virtual ~TrbSink() = default;
  /// The next event, by ascending number. `subevents`: as received; valid during the call.
  virtual void keep(Tick number, std::span<const std::byte> subevents) = 0;
  /// The numbers from `from` up to but excluding `to`, the next event's number, are missing.
  virtual void miss(Tick from, Tick to) = 0;
  /// The board's numbers have started again: an unknown number of events may be missing.
  virtual void restart() = 0;
  /// An event is dropped because its number agrees with no other.
  virtual void leave_out(std::span<const std::byte> subevents) = 0;
};

/// Puts the events of one board in order by their numbers, which wrap around. Independent of sockets and clocks: times
/// are in ns of any monotonic clock.
///
/// - A number is extended to the value nearest to the newest event. After a silence of the board, the reference is the
///   foremost source of the run, if it is ahead.
/// - Early events wait for those before them, at most kPatience_ns and kMostHeld numbers. Then the earlier ones are
///   missing; if they still arrive, they are dropped.
/// - A number that is not near is set aside. kAheadEvents in a row that agree on a place ahead, or kBackEvents on
///   another place, are accepted: the board has lost the numbers between, or its numbers have started again and
///   continue after the next wrap. Others are dropped.
/// - With `gaps`, the board may skip numbers: all numbers ahead are near, up to the vicinity of the run's foremost
///   source. That source also confirms a single number set aside.
/// - Some firmware sends 0x2b0000 instead of 0x2c0000 after 0x2bffff, and then 0x2c0001; this is repaired.
class TrbSequence {
 public:
  static constexpr std::int64_t kPatience_ns = 50'000'000;
  static constexpr Tick kMostHeld = 256;
  static constexpr Tick kNear = 1000;
  static constexpr std::size_t kAheadEvents = 2;
  static constexpr std::size_t kBackEvents = 32;

  /// `bits`: width of the numbers. `gaps`: see above. `sink` must outlive this object.
  TrbSequence(unsigned bits, bool gaps, TrbSink& sink)
      : range_(std::uint64_t{1} << bits), gaps_are_usual_(gaps), sink_(sink) {}

  /// Takes an event of the board. `after_silence`: no data were received for a while before it.
  void take(std::uint32_t number, std::span<const std::byte> subevents, std::int64_t now_ns,
            bool after_silence = false);
  /// Gives up events that have been missing for too long. Call it after taking all data that have arrived.
  void pass_time(std::int64_t now_ns);
  /// Gives up all missing events; no more events follow.
  void finish();
  /// Sets the number that the run's foremost source has reached; 0: unknown.
  void others_at(Tick number) { others_ = number; }

  [[nodiscard]] Tick range() const { return range_; }
  [[nodiscard]] bool placed() const { return placed_; }
  [[nodiscard]] Tick newest() const { return newest_; }
  /// Whether any events are held or set aside.
  [[nodiscard]] bool waiting() const { return !held_.empty() || !aside_.empty(); }
  /// Whether events with a known place wait for earlier ones; newest() is among them.
  [[nodiscard]] bool holds() const { return !held_.empty(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  using Bytes = std::vector<std::byte>;
  struct Held {
    Bytes subevents;
    std::int64_t ns = 0;  ///< arrival time
  };
  struct Aside {
    std::uint32_t number = 0;
    Bytes subevents;
  };
  struct Gap {
    Tick begin = 0;
    Tick end = 0;
  };

  [[nodiscard]] std::int64_t step(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Tick extended(std::uint32_t number, Tick reference) const;
  [[nodiscard]] bool is_flawed(Tick number) const;
  [[nodiscard]] bool is_near(Tick number) const;
  void accept_confirmed_aside(std::int64_t now_ns);
  bool put(Tick number, std::span<const std::byte> subevents, std::int64_t now_ns);
  bool refuse(Tick number);
  void release();
  void give_up();
  [[nodiscard]] bool agrees_with_aside(std::uint32_t number) const;
  void set_aside(std::uint32_t number, std::span<const std::byte> subevents, std::int64_t now_ns);
  [[nodiscard]] std::size_t needed_aside() const;
  void drop_aside();
  void accept_aside(std::int64_t now_ns);
  void begin_with(Tick first);

  Tick range_;
  bool gaps_are_usual_;
  TrbSink& sink_;
  Tick others_ = 0;
  bool placed_ = false;
  Tick next_ = 0;    ///< the first undecided number
  Tick newest_ = 0;  ///< the highest number received
  std::map<Tick, Held> held_;
  std::vector<Aside> aside_;
  std::deque<Gap> gaps_;  ///< the latest gaps
  Counters counters_{Metric::missing_numbers, Metric::duplicates,       Metric::reordered,
                     Metric::late_events,     Metric::repaired_numbers, Metric::out_of_step};
};

}  // namespace eventloom
