#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "core/control/collective.hpp"
#include "core/runtime/json.hpp"

/// The option --realtime: keeps ranks from being paged out, preempted or moved, if the system allows it.
namespace eventloom {

/// Adds --realtime.
void add_realtime_option(boost::program_options::options_description& options);

/// The state of a rank.
struct RankRealtime {
  bool memory_locked = false;
  bool fifo = false;
  std::string cpus;  ///< hardware threads of the single core to which the rank is bound, as in "0,4"; otherwise empty
};

/// Collective. Locks the memory of each rank, schedules it by SCHED_FIFO, and binds it to its own core unless the
/// launcher has done so. `threads`: busy threads per rank; ranks with several are not bound, and none gets SCHED_FIFO
/// on a host that has fewer cores than the threads of its ranks. Rank 0 logs one line per step that is not taken, with
/// the ranks, the reason and the fix. Returns one element per rank. Throws UserError, the same on all ranks, when no
/// step is in force on any rank.
std::vector<RankRealtime> apply_realtime(const Collective& ranks, std::size_t threads);

/// One element per rank: {"memory_locked", "fifo", "cpus"}, the last null unless bound.
Json to_json(const std::vector<RankRealtime>& ranks);

/// The inverse of to_json().
std::vector<RankRealtime> realtime_of(const Json& json);

/// Formats as "memory locked: ranks 0-3; SCHED_FIFO: none; bound to a core: ranks 0-3".
std::string summary_of(const std::vector<RankRealtime>& ranks);

}  // namespace eventloom
