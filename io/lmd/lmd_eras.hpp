#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// What the user says of event numbers that go back.
enum class EraRule : std::uint8_t {
  automatic,  ///< see LmdEras
  repeats,    ///< over another connection they always come again
  anew,       ///< over another connection they always begin anew
};

/// Tells a counter of events that begins anew, which opens a new era of the run, from events that a server sends
/// again. Numbers that go back begin anew
///
/// - with a start trigger (14), or directly behind a start or stop trigger (15);
/// - over another connection, unless the event is the one that had this number before, or the first copy of it. What
///   events were is known of the last 65536 numbers and of the first 4096 of an era; other numbers begin anew unless
///   the events before came again.
class LmdEras {
 public:
  explicit LmdEras(EraRule rule);

  enum class Verdict : std::uint8_t { goes_on, comes_again, begins_anew };
  /// `step`: from the last number kept to that of `event`; nothing: it is the first.
  Verdict judge(const LmdEvent& event, std::optional<std::int64_t> step);
  /// The event is kept. `anew`: it is the first of its era.
  void keep(const LmdEvent& event, bool anew);
  /// What comes now comes over another connection.
  void reconnect() { reconnected_ = true; }

 private:
  /// What an event was, in short.
  struct Print {
    std::uint32_t number = 0;
    std::uint32_t checksum = 0;
    std::uint32_t first_checksum = 0;  ///< of its first copy, where the event came twice: that was not finished
    bool any = false;

    [[nodiscard]] bool is_of(std::uint32_t sum) const { return sum == checksum || sum == first_checksum; }
  };

  [[nodiscard]] bool begins_by_trigger(std::uint16_t trigger, std::int64_t step) const;
  Verdict judge_reconnected(const LmdEvent& event);
  [[nodiscard]] const Print* remembered(std::uint32_t number) const;

  EraRule rule_;
  std::vector<Print> last_;    ///< by the low bits of the number
  std::vector<Print> first_;   ///< of the era
  std::uint16_t trigger_ = 0;  ///< of the last event kept
  bool reconnected_ = false;   ///< and no number has been above those before
  bool repeating_ = false;     ///< the last event came again
};

}  // namespace eventloom
