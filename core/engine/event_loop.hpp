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

/// What time it is: never falls. Roles take their time from it alone.
using SteadyClock = std::function<SteadyTime()>;
/// This host's.
inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

/// How the ranks come to an end together.
class Ending {
 public:
  virtual ~Ending() = default;
  /// Called once a turn. `done`: no role of this rank has anything left to do; `work`: how much the
  /// turn has done. True when no rank needs this one any more.
  virtual bool over(SteadyTime now, bool done, std::size_t work) = 0;
  /// A role has met an error; from here on none takes a turn and all count as done. May throw it on.
  virtual void fail(const UserError& error) = 0;
};

/// When all are done. An error of one rank is not for the others.
class EndTogether final : public Ending {
 public:
  explicit EndTogether(const Collective& ranks) : ranks_(ranks) {}
  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { throw error; }

 private:
  const Collective& ranks_;
  std::unique_ptr<PendingBarrier> barrier_;
};

/// Collective. Every role of this rank takes its turn until `ending` says that it is over. `each_turn`
/// is called once a turn, with the time at its beginning. Between turns without work it waits as `idle` says.
void run_roles(const std::vector<Role*>& roles, Transport& transport, Ending& ending, const SteadyClock& clock,
               IdlePolicy& idle, const std::function<void(SteadyTime)>& each_turn);

}  // namespace eventloom
