#pragma once

#include <cstdint>

#include "formats/ids.hpp"
#include "io/recorded/seen_time.hpp"

namespace eventloom {

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

  const SeenTime& seen_;
  Tick from_;
  Tick to_;
  Tick near_;
  Tick foremost_;  ///< the latest hit so far
  Tick at_;        ///< how far the hits after the step have come
  Tick farthest_;
  std::uint64_t hits_ = 0;    ///< hits after the step until it has come back
  std::uint64_t inside_ = 0;  ///< hits of these inside earlier stretches
  double between_;            ///< earlier hits from `to` to `from`
  double passed_ = 0;         ///< earlier hits that the hits after the step have passed
  double leapt_ = 0;          ///< earlier hits passed in large steps
  double last_leap_ = 0;      ///< passed by the step with which it came back
  bool back_ = false;         ///< the source has come back to where it was
};

}  // namespace eventloom
