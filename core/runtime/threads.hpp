#pragma once

#include <cstddef>

namespace eventloom {

/// Threads used by a builder: OMP_NUM_THREADS, or 1 if unset, because the ranks already share the cores.
std::size_t builder_threads();

/// Makes idle OpenMP threads sleep rather than spin, as builders wait for data most of the time and other ranks need
/// the cores. The OpenMP library reads its settings when it is loaded: with several threads, and unless the user has
/// chosen a policy, this re-executes the program with OMP_WAIT_POLICY=passive. Must be the first call.
void let_idle_threads_sleep(char** argv);

}  // namespace eventloom
