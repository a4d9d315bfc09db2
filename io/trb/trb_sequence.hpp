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

/// What becomes of the events of a board.
class TrbSink {
 public:
  virtual ~TrbSink() = default;
  /// The next event, in rising numbers. `subevents`: as received; valid during the call.
  virtual void keep(Tick number, std::span<const std::byte> subevents) = 0;
  /// The numbers from `from` to before `to`, that of the next event, are missing.
  virtual void miss(Tick from, Tick to) = 0;
  /// The board's numbers begin anew: an unknown number of events may be missing.
  virtual void restart() = 0;
  /// An event whose number fits no other is dropped.
  virtual void leave_out(std::span<const std::byte> subevents) = 0;
};

/// Puts the events of one board in order by their numbers, which wrap around. Independent of sockets and clocks: times
/// are ns of any monotonic clock.
///
/// - A number is extended to the value nearest to that of the newest event, after a silence of the board to that
///   nearest to the foremost source of the run, if that is ahead.
/// - Events that come too early wait for those before them, kPatience_ns and kMostHeld numbers at most. Then these are
///   missing; when they come later, they are dropped.
/// - A number that is not near is set aside. Two in a row that agree on a place ahead, or kBackEvents on another, are
///   believed: the board has lost what is between, or its numbers begin anew, after the next wrap. Others are dropped.
/// - With `gaps` the board need not have every number: then any number is near that lies ahead, up to near where the
/// foremost source of the run is. It also confirms a single one that was set aside.
/// - Some firmware sends 0x2b0000 after 0x2bffff, where 0x2c0000 is meant, and then 0x2c0001: repaired.
class TrbSequence {
 public:
  static constexpr std::int64_t kPatience_ns = 50'000'000;
  static constexpr std::uint64_t kMostHeld = 256;
  static constexpr std::uint64_t kNear = 1000;
  static constexpr std::size_t kAheadEvents = 2;
  static constexpr std::size_t kBackEvents = 32;

  /// `bits`: width of the numbers. `gaps`: see above. `sink` outlives this.
  TrbSequence(unsigned bits, bool gaps, TrbSink& sink) : range_(Tick{1} << bits), gaps_are_usual_(gaps), sink_(sink) {}

  /// An event of the board. `after_silence`: nothing was received for a while before it.
  void take(std::uint32_t number, std::span<const std::byte> subevents, std::int64_t now_ns,
            bool after_silence = false);
  /// Everything that has arrived has been taken: gives up what has been missing for too long.
  void pass_time(std::int64_t now_ns);
  /// No more follow.
  void finish();
  /// The foremost source of the run is here; 0: unknown.
  void others_at(Tick number) { others_ = number; }

  [[nodiscard]] Tick range() const { return range_; }
  [[nodiscard]] bool placed() const { return placed_; }
  [[nodiscard]] Tick newest() const { return newest_; }
  /// Events wait for others.
  [[nodiscard]] bool waiting() const { return !held_.empty() || !aside_.empty(); }
  /// Events that have their place wait for those before them; newest() is one of them.
  [[nodiscard]] bool holds() const { return !held_.empty(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  using Bytes = std::vector<std::byte>;
  struct Held {
    Bytes subevents;
    std::int64_t ns = 0;  ///< when it came
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
  Tick next_ = 0;    ///< the first number that is not decided
  Tick newest_ = 0;  ///< the highest received
  std::map<Tick, Held> held_;
  std::vector<Aside> aside_;
  std::deque<Gap> gaps_;  ///< the latest
  Counters counters_{Metric::missing_numbers, Metric::duplicates,       Metric::reordered,
                     Metric::late_events,     Metric::repaired_numbers, Metric::out_of_step};
};

}  // namespace eventloom
