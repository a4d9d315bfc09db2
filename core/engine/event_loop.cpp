#include "core/engine/event_loop.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Busy turns between two calls of Transport::progress(): their puts and flushes make progress, too.
constexpr std::uint32_t kTurnsBetweenProgress = 16;
/// A rank idle for this long flushes its puts to other hosts: only then does the standard guarantee that the last ones
/// arrive. In practice they arrive sooner. A flush while transfers are in flight would block all other work of the
/// rank.
constexpr std::chrono::seconds kPause(1);

/// Limits the time in flushes that make room for messages to a fifth. Over a slow network they dominate, and the rank
/// neither sends nor receives meanwhile. So a rank rests four times as long before the next one.
class FlushBudget {
 public:
  [[nodiscard]] bool allows(SteadyTime now) const { return now >= next_; }
  void spend(SteadyTime begin, SteadyTime end) { next_ = end + kRest * (end - begin); }

 private:
  static constexpr int kRest = 4;
  SteadyTime next_ = SteadyTime::min();
};

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
  bool make_room() {
    return std::ranges::any_of(roles_, [](Role* role) { return role->make_room(); });
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

void run_roles(const std::vector<Role*>& roles, const Windows& windows, Ending& ending, const SteadyClock& clock,
               IdlePolicy& idle, const std::vector<TurnTask*>& tasks) {
  Turns turns(roles, ending);
  std::uint32_t n = 0;
  SteadyTime busy = clock();
  FlushBudget flushes;
  for (;;) {
    const auto now = clock();
    const bool done = turns.done();
    const std::size_t work = done ? 0 : turns.take(now);
    if (done) {
      windows.data.flush_all();
      windows.control.flush_all();
    }
    if (ending.over(now, done, work)) return;
    // Even when done, this rank may have to make progress for others.
    if (work == 0 || ++n % kTurnsBetweenProgress == 0) {
      windows.data.progress();
      windows.control.progress();
    }
    for (auto* task : tasks) task->turn(now);
    if (work != 0) {
      idle.reset();
      busy = now;
      continue;
    }
    if (!done && flushes.allows(now)) {
      const auto begin = clock();
      if (turns.make_room()) {
        flushes.spend(begin, clock());
        continue;
      }
    }
    if (!done) {
      windows.control.flush_near();
      windows.data.flush_near();
    }
    if (now - busy > kPause && (windows.control.flush_oldest() || windows.data.flush_oldest())) continue;
    idle.wait_until(done ? SteadyTime::max() : turns.due());
  }
}

}  // namespace eventloom
