#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "app/run/event_tap.hpp"
#include "app/run/output_settings.hpp"
#include "core/control/collective.hpp"
#include "core/engine/role.hpp"
#include "core/engine/role_layout.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

/// The taps of the writers on this rank. They serve the first definition.
class RunTaps final : public TurnTask {
 public:
  /// No taps.
  RunTaps() = default;
  /// Collective. Listens on each rank with writers, and reports the addresses. `run`: the same on all ranks. Throws
  /// UserError, the same on all ranks, if any rank cannot listen.
  RunTaps(const TapOption& option, const EventFileRun& run, const Roles& roles, const Collective& ranks);

  /// Returns the tap of a writer on this rank, or null.
  [[nodiscard]] EventTap* of(std::uint32_t writer) const;
  /// See EventTap.
  void turn(SteadyTime now) override;
  void end();
  void join();
  void add_to(Counters& counters) const;

 private:
  std::map<std::uint32_t, std::unique_ptr<EventTap>> taps_;  ///< keyed by writer
};

}  // namespace eventloom
