#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "app/run/event_tap.hpp"
#include "app/run/tap_option.hpp"
#include "core/control/collective.hpp"
#include "core/engine/role.hpp"
#include "core/engine/role_layout.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

/// The taps of the writers on this rank, those of the first definition.
class RunTaps final : public TurnTask {
 public:
  /// None, unless they are opened.
  RunTaps() = default;
  /// Collective. Listens, on each rank that writes, and says where. `run`: the same on all ranks. Throws
  /// UserError, the same on all ranks, when that is not possible on any.
  RunTaps(const TapOption& option, const EventFileRun& run, const Roles& roles, const Collective& ranks);

  /// That of a writer of this rank; null: there is none.
  [[nodiscard]] EventTap* of(std::uint32_t writer) const;
  /// See EventTap.
  void turn(SteadyTime now) override;
  void end();
  void join();
  void add_to(Counters& counters) const;

 private:
  std::map<std::uint32_t, std::unique_ptr<EventTap>> taps_;  ///< by writer
};

}  // namespace eventloom
