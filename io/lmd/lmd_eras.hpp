#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// The user's choice for event numbers that go back.
enum class EraRule : std::uint8_t {
  automatic,  ///< see LmdEras
  repeats,    ///< after a reconnection they are repeats
  anew,       ///< after a reconnection they start a new era
};

/// Distinguishes a restarted event counter, which opens a new era of the run, from events that a server sends again.
/// Numbers that go back open a new era
///
/// - with a start trigger (14), or directly after a start or stop trigger (15);
/// - after a reconnection, unless the event is the one that had this number before, or the first copy of it. Events are
/// remembered for the last 65536 numbers and for the first 4096 of an era; other numbers open a new era unless the
/// previous events were repeats.
class LmdEras {
 public:
  explicit LmdEras(EraRule rule);

  enum class EraStep : std::uint8_t { continues, comes_again, begins_anew };
  /// `number`: of the event. `step`: from the last number kept to it; nothing for the first event.
  EraStep judge(const LmdEvent& event, std::uint32_t number, std::optional<std::int64_t> step);
  /// The event is kept. `anew`: it is the first of its era.
  void keep(const LmdEvent& event, std::uint32_t number, bool anew);
  /// The next event comes over another connection.
  void reconnect() { reconnected_ = true; }

 private:
  /// A digest of an event.
  struct Print {
    std::uint32_t number = 0;
    std::uint32_t checksum = 0;
    std::uint32_t first_checksum = 0;  ///< of its first, unfinished copy, where the event came twice
    bool any = false;

    [[nodiscard]] bool is_of(std::uint32_t sum) const { return sum == checksum || sum == first_checksum; }
  };

  [[nodiscard]] bool begins_by_trigger(std::uint16_t trigger, std::int64_t step) const;
  EraStep judge_reconnected(const LmdEvent& event, std::uint32_t number);
  [[nodiscard]] const Print* remembered(std::uint32_t number) const;

  EraRule rule_;
  std::vector<Print> last_;    ///< by the low bits of the number
  std::vector<Print> first_;   ///< of the era
  std::uint16_t trigger_ = 0;  ///< of the last event kept
  bool reconnected_ = false;   ///< and no number has been above the earlier ones
  bool repeating_ = false;     ///< the last event was a repeat
};

}  // namespace eventloom
