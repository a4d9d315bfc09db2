#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/control/collective.hpp"
#include "core/engine/role.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

/// Monotonic time. Roles use no other clock.
using SteadyClock = std::function<SteadyTime()>;
/// This host's clock.
inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

/// Decides when the ranks leave the event loop together.
class Ending {
 public:
  virtual ~Ending() = default;
  /// Called once per turn. `done`: no role of this rank has work left; `work`: work done in this turn. Returns true
  /// once no rank needs this one any more.
  virtual bool over(SteadyTime now, bool done, std::size_t work) = 0;
  /// A role failed with `error`; from now on no role takes a turn, and all count as done. May rethrow the error.
  virtual void fail(const UserError& error) = 0;
};

/// Ends when all ranks are done. An error of one rank is not passed to the others.
class EndTogether final : public Ending {
 public:
  explicit EndTogether(const Collective& ranks) : ranks_(ranks) {}
  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { throw error; }

 private:
  const Collective& ranks_;
  std::unique_ptr<PendingBarrier> barrier_;
};

/// Collective. The roles of this rank take turns until `ending` is over. Waits on `idle` after a turn without work.
void run_roles(const std::vector<Role*>& roles, const Windows& windows, Ending& ending, const SteadyClock& clock,
               IdlePolicy& idle, const std::vector<TurnTask*>& tasks);

}  // namespace eventloom
