#include "core/engine/event_loop.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Busy turns between two calls of Transport::progress(): their puts and flushes make progress, too.
constexpr std::uint32_t kTurnsBetweenProgress = 16;

/// The roles take turns until all are done or one of them has failed.
class Turns {
 public:
  Turns(const std::vector<Role*>& roles, Ending& ending) : roles_(roles), ending_(ending) {}

  [[nodiscard]] bool done() const {
    return failed_ || std::ranges::all_of(roles_, [](const Role* role) { return role->done(); });
  }
  std::size_t take(SteadyTime now) {
    std::size_t work = 0;
    try {
      for (auto* role : roles_) work += role->do_work(now);
    } catch (const UserError& e) {
      failed_ = true;
      ending_.fail(e);
    }
    return work;
  }
  [[nodiscard]] SteadyTime due() const {
    SteadyTime first = SteadyTime::max();
    for (const auto* role : roles_) first = std::min(first, role->due());
    return first;
  }
  void flush() {
    for (auto* role : roles_) role->flush();
  }

 private:
  const std::vector<Role*>& roles_;
  Ending& ending_;
  bool failed_ = false;
};

}  // namespace

bool EndTogether::over(SteadyTime, bool done, std::size_t) {
  if (!done) return false;
  if (!barrier_) barrier_ = ranks_.barrier();
  return barrier_->done();
}

void run_roles(const std::vector<Role*>& roles, Transport& transport, Ending& ending, const SteadyClock& clock,
               IdlePolicy& idle, const std::function<void(SteadyTime)>& each_turn) {
  Turns turns(roles, ending);
  std::uint32_t n = 0;
  bool flushed = false;
  for (;;) {
    const auto now = clock();
    const bool done = turns.done();
    const std::size_t work = done ? 0 : turns.take(now);
    if (done && !flushed) {
      turns.flush();
      flushed = true;
    }
    if (ending.over(now, done, work)) return;
    // Other ranks may still need this one's progress when it is done.
    if (work == 0 || ++n % kTurnsBetweenProgress == 0) transport.progress();
    each_turn(now);
    if (work != 0) {
      idle.reset();
      continue;
    }
    if (!done) turns.flush();
    idle.wait_until(done ? SteadyTime::max() : turns.due());
  }
}

}  // namespace eventloom
