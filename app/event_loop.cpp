#include "app/event_loop.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Turns with work to do between two looks after the transport: what they put and flush lets it
/// work already.
constexpr std::uint32_t kTurnsBetweenProgress = 16;

}  // namespace

void run_roles(const std::vector<Role*>& roles, Transport& transport, const Communicator& communicator, Idle idle,
               const std::function<void(SteadyTime)>& each_turn) {
  const auto settle = [&] {
    for (auto* role : roles) role->settle();
  };
  std::uint32_t turns = 0;
  while (!std::ranges::all_of(roles, [](const Role* role) { return role->done(); })) {
    const auto now = std::chrono::steady_clock::now();
    std::size_t done = 0;
    for (auto* role : roles) done += role->do_work(now);
    if (done == 0 || ++turns % kTurnsBetweenProgress == 0) transport.progress();
    each_turn(now);
    if (done != 0) {
      idle.reset();
    } else {
      settle();
      idle.wait();
    }
  }
  settle();
  // Others may still need this rank's progress.
  PendingBarrier barrier(communicator);
  while (!barrier.done()) idle.wait();
}

}  // namespace eventloom
