#pragma once

#include <cstdint>
#include <string>

#include "formats/ids.hpp"
#include "io/recorded/time_order.hpp"
#include "io/recorded/turn_watch.hpp"

namespace eventloom {

/// A hit, by its number in the recording, from 1, and its time.
struct NumberedHit {
  std::uint64_t number = 0;
  Tick time = 0;
};

/// Makes the messages on steps back of a source's times: what happened, and what to do about it.
class JumpMessage {
 public:
  /// `watch`: null if the clock of the source is unknown. Both must outlive this.
  JumpMessage(const TimeOrder& order, const TurnWatch* watch) : order_(order), watch_(watch) {}

  /// A time far ahead of all others.
  [[nodiscard]] std::string ahead(NumberedHit hit, Tick by) const;
  [[nodiscard]] std::string jump(NumberedHit hit, NumberedHit before) const;
  /// Like jump(), where the hits that follow show that it is disorder; `farthest`: the most by which one goes back.
  [[nodiscard]] std::string disorder(NumberedHit hit, NumberedHit before, Tick farthest) const;
  /// Likewise, where hits are in no order of time.
  [[nodiscard]] std::string no_order(NumberedHit hit, NumberedHit before, Tick farthest) const;
  [[nodiscard]] std::string number_back(NumberedHit hit, NumberedHit before) const;
  /// The clock begins again after `before`, within ordinary disorder, in channels that had hits before (`recur`) or
  /// not.
  [[nodiscard]] std::string short_restart(Tick before, bool recur) const;
  [[nodiscard]] std::string turn(const TurnWatch::Turn& turn) const;
  /// Advice on a jump.
  [[nodiscard]] std::string remedies() const;

 private:
  [[nodiscard]] std::string order_of(Tick farthest) const;
  [[nodiscard]] std::string step(NumberedHit hit, NumberedHit before) const;
  [[nodiscard]] std::string place(NumberedHit hit) const;
  [[nodiscard]] std::string length(Tick ticks) const;
  [[nodiscard]] std::string counter(Tick from, Tick to) const;

  const TimeOrder& order_;
  const TurnWatch* watch_;
};

}  // namespace eventloom
