#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>

#include "formats/ids.hpp"
#include "io/recorded/seen_time.hpp"

namespace eventloom {

/// Counts steps back, and those of them that lead from the end of the times so far to their beginning, as where a clock
/// is reset again and again. Frames in any order, of which each occurs once, leave the beginning behind.
class Restarts {
 public:
  /// Steps back of up to `apart` are ordinary disorder.
  explicit Restarts(Tick apart) : apart_(apart) {}

  /// Takes hits in ascending order, none before the last one; `first` and `last` are their times.
  void run_on(Tick first, Tick last);
  /// Takes the next hit in the order of recording. Returns whether it begins again.
  bool take(Tick time);

  [[nodiscard]] std::uint64_t count() const { return restarts_; }
  [[nodiscard]] std::uint64_t steps_back() const { return steps_back_; }
  /// Whether most steps back are restarts.
  [[nodiscard]] bool are_most() const { return 2 * restarts_ > steps_back_; }
  /// Whether there was no other step back, and a single one.
  [[nodiscard]] bool are_single() const { return steps_back_ == 1 && restarts_ == 1; }
  /// Whether all times lie within `span`, and most stretches between steps back begin where they began and cover half.
  /// A clock that begins again with few hits in between looks so, and frames in any order may.
  [[nodiscard]] bool may_be(Tick span) const;

 private:
  [[nodiscard]] bool repeats() const;

  Tick apart_;
  bool any_ = false;
  Tick first_ = 0;  ///< the earliest time so far
  Tick last_ = 0;
  Tick most_ = 0;
  Tick begin_ = 0;           ///< the first time since the last step back
  Tick end_ = 0;             ///< the greatest since then
  Tick before_ = 0;          ///< the greatest before then
  bool near_first_ = false;  ///< that time is where the times began
  std::uint64_t steps_back_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t repeats_ = 0;  ///< stretches before the last step back that cover times covered before
};

/// Finds a clock that begins again within ordinary disorder: stretches of hits that lie on each other, each from where
/// the source began to where it ended, so that sorting mixes them. Hits that are a little late do not count.
class ShortRestarts {
 public:
  /// Takes hits in ascending order, none before the last one, and their channels.
  void run_on(std::span<const Tick> times, std::span<const std::uint32_t> channels);
  /// Takes the next hit in the order of recording.
  void take(Tick time, std::uint32_t channel);
  /// Whether the times are so long that none can be found any more, with disorder of up to `disorder`.
  [[nodiscard]] bool is_over(Tick disorder) const { return first_ && most_ > *first_ + 2 * disorder; }

  struct Found {
    Tick before = 0;              ///< the time before the first restart
    bool channels_recur = false;  ///< a channel has hits in two stretches; otherwise these may be of several devices
  };
  /// std::nullopt unless all stretches are alike.
  [[nodiscard]] std::optional<Found> found() const;

 private:
  void end_stretch();
  void go_on(Tick time, std::uint32_t channel);

  std::optional<Tick> first_;
  Tick last_ = 0;
  Tick most_ = 0;
  std::uint64_t hits_ = 0;                      ///< number in the current stretch
  std::uint64_t fewest_ = 0;                    ///< number in the shortest stretch before
  std::optional<Tick> first_most_;              ///< the greatest time before the first restart
  bool others_ = false;                         ///< other steps back are long, too
  std::unordered_set<std::uint32_t> channels_;  ///< all channels of the stretches before
  std::unordered_set<std::uint32_t> now_;       ///< all channels of the current one
  bool recur_ = false;
};

/// Judges whether hits are in any order at all, by those behind a time that is far ahead of the next one: then far more
/// hits go back than damaged times would make among hits in order.
class OrderBehind {
 public:
  /// `ahead`: the time far ahead. Steps back of up to `near` are ordinary disorder.
  OrderBehind(Tick ahead, Tick near) : near_(near), most_(ahead) {}

  /// Takes the next hit.
  void take(Tick time);
  [[nodiscard]] bool is_none() const;
  /// The most by which any of these hits lies before an earlier one.
  [[nodiscard]] Tick farthest() const { return farthest_; }

 private:
  Tick near_;
  Tick most_;
  Tick at_ = 0;  ///< the greatest time since the last step back
  Tick farthest_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t back_ = 0;
};

/// Judges a step back by the hits that follow it. Disorder: a stretch that lies between earlier hits, as where frames
/// are stored in any order, or behind which the source leaps ahead over its earlier hits. A jump: the clock begins
/// again and runs on through times that it has passed before.
class StepBack {
 public:
  /// `seen`: the hits before the step, to be kept until the end; `from` is the latest. `to`: the hit that goes back.
  /// `near`: a hit this little before `from` has come back to it.
  StepBack(SeenTime& seen, Tick from, Tick to, Tick near);

  /// Takes the next hit.
  void take(Tick time);

  /// Whether the step is disorder, judging by the hits so far.
  [[nodiscard]] bool is_disorder() const;
  /// The most by which any of these hits lies before an earlier one.
  [[nodiscard]] Tick farthest() const { return farthest_; }

 private:
  void pass(Tick from, Tick to);
  [[nodiscard]] bool begins_again() const;
  [[nodiscard]] bool restarts() const;

  const SeenTime& seen_;
  Restarts restarts_;
  Tick from_;
  Tick to_;
  Tick near_;
  Tick foremost_;  ///< the latest hit so far
  Tick at_;        ///< how far the hits after the step have come
  Tick farthest_;
  std::uint64_t hits_ = 0;    ///< hits after the step until it has come back
  std::uint64_t inside_ = 0;  ///< hits of these inside earlier stretches
  double between_;            ///< earlier hits from `to` to `from`
  std::uint64_t passes_ = 0;  ///< steps ahead over earlier hits
  double passed_ = 0;         ///< earlier hits that the hits after the step have passed
  double leapt_ = 0;          ///< earlier hits passed in large steps
  double last_leap_ = 0;      ///< passed by the step with which it came back
  bool back_ = false;         ///< the source has come back to where it was
};

}  // namespace eventloom
