#include "core/control/agreement.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/idle.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

/// Per thread, since each thread is a rank in tests.
thread_local bool shared = false;

/// How the work of one rank ended, for the others.
enum class Outcome : std::uint8_t { good, usage, program, no_memory };

Outcome outcome_of(const Failure& failure) {
  if (failure.code == kExitOk) return Outcome::good;
  if (failure.no_memory) return Outcome::no_memory;
  return failure.code == kExitUsage ? Outcome::usage : Outcome::program;
}

Failure attempt(const Collective& ranks, const std::function<void()>& work) {
  shared = false;
  Failure mine;
  try {
    work();
  } catch (...) {
    mine = Failure::of(std::current_exception());
    if (mine.code != kExitUsage) mine.text = name_of_rank(ranks.rank(), ranks.size()) + mine.text;
  }
  return mine;
}

/// Throws the failure of the lowest rank that has one.
void share(const Collective& ranks, const Failure& mine) {
  const Activity activity(kWaitingForRanks);
  const auto all = ranks.all_gather(outcome_of(mine));
  const auto failed = std::ranges::find_if(all, [](Outcome outcome) { return outcome != Outcome::good; });
  if (failed == all.end()) return;
  const auto first = static_cast<std::size_t>(failed - all.begin());
  const auto text = ranks.all_gather(mine.text)[first];
  const auto excerpt = ranks.all_gather(mine.excerpt)[first];
  leave_together();
  if (*failed == Outcome::usage) throw TextError(text, excerpt);
  throw SharedError(text, *failed == Outcome::no_memory);
}

/// Waits until all ranks have called it. MPI's own operations would poll without a pause.
void rest(const Collective& ranks) {
  const Activity activity(kWaitingForRanks);
  const auto barrier = ranks.barrier();
  for (Idle idle; !barrier->done();) idle.wait();
}

}  // namespace

void agree(const Collective& ranks, const std::function<void()>& work) { share(ranks, attempt(ranks, work)); }

void agree_at_rest(const Collective& ranks, const std::function<void()>& work) {
  const auto mine = attempt(ranks, work);
  rest(ranks);
  share(ranks, mine);
}

void meet(const Collective& ranks) {
  const auto barrier = ranks.barrier();
  while (!barrier->done()) sched_yield();
}

void leave_together() { shared = true; }
bool left_together() { return shared; }

}  // namespace eventloom
