#include "app/mpi_command.hpp"

#include <sched.h>

#include <algorithm>

#include "core/runtime/activity.hpp"

namespace eventloom {

void agree(const Communicator& communicator, const std::function<void()>& work) {
  std::string error;
  try {
    work();
  } catch (const UserError& e) {
    error = e.what();
  }
  const Activity activity(kWaitingForRanks);
  for (const auto& text : communicator.all_gather(error)) {
    if (!text.empty()) throw UserError(text);
  }
}

bool any_of_ranks(const Communicator& communicator, bool mine) {
  const auto all = communicator.all_gather(mine ? "1" : "0");
  return std::ranges::any_of(all, [](const std::string& text) { return text == "1"; });
}

void meet(const Communicator& communicator) {
  PendingBarrier barrier(communicator);
  while (!barrier.done()) sched_yield();
}

int with_mpi(const std::string& command, const std::function<int(const Communicator&)>& work) {
  const MpiEnvironment environment;
  const Communicator communicator;
  try {
    return work(communicator);
  } catch (const UserError& e) {
    if (communicator.rank() == 0) std::cerr << "eventloom " << command << ": " << e.what() << std::endl;
    return kExitUsage;
  }
}

int refuse(const std::string& command, const std::string& what) {
  if (!launched()) throw UserError(what);
  return with_mpi(command, [&](const Communicator&) -> int { throw UserError(what); });
}

}  // namespace eventloom
