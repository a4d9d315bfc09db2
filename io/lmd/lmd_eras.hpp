#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// The user's rule for event numbers that go back.
enum class EraRule : std::uint8_t {
  automatic,  ///< see LmdEras
  repeats,    ///< after a reconnection, they are repeats
  new_era,    ///< after a reconnection, they start a new era
};

/// Distinguishes a restarted event counter, which opens a new era of the run, from events that a server sends again.
/// Numbers that go back open a new era:
///
/// - with a start trigger (14), or directly after a start or stop trigger (15);
/// - after a reconnection, unless the event equals the earlier event of this number, or its first copy. The last 65536
///   numbers and the first 4096 of an era are remembered; other numbers open a new era unless the previous event was a
///   repeat.
class LmdEras {
 public:
  explicit LmdEras(EraRule rule);

  enum class EraStep : std::uint8_t { continues, comes_again, begins_era };
  /// `number`: the event number. `step`: its difference from the last kept number; std::nullopt for the first event.
  EraStep judge(const LmdEvent& event, std::uint32_t number, std::optional<std::int64_t> step);
  /// Records a kept event, which is the first of its era if `begins_era` is true.
  void keep(const LmdEvent& event, std::uint32_t number, bool begins_era);
  /// Following events arrive over a new connection.
  void reconnect() { reconnected_ = true; }

 private:
  /// Digest of an event.
  struct Print {
    std::uint32_t number = 0;
    std::uint32_t checksum = 0;
    std::uint32_t first_checksum = 0;  ///< checksum of its first, incomplete copy if the event came twice
    bool any = false;

    [[nodiscard]] bool is_of(std::uint32_t sum) const { return sum == checksum || sum == first_checksum; }
  };

  [[nodiscard]] bool begins_by_trigger(std::uint16_t trigger, std::int64_t step) const;
  EraStep judge_reconnected(const LmdEvent& event, std::uint32_t number);
  [[nodiscard]] const Print* remembered(std::uint32_t number) const;

  EraRule rule_;
  std::vector<Print> last_;    ///< latest events, indexed by the low bits of the number
  std::vector<Print> first_;   ///< first events of the era
  std::uint16_t trigger_ = 0;  ///< trigger of the last kept event
  bool reconnected_ = false;   ///< reconnected, and no number since has exceeded the earlier ones
  bool repeating_ = false;     ///< the last event was a repeat
};

}  // namespace eventloom
