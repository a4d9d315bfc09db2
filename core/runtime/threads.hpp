#pragma once

#include <cstddef>

namespace eventloom {

/// Threads that a builder uses: OMP_NUM_THREADS, or 1 where that is not set, because the ranks share
/// the cores already.
std::size_t builder_threads();

/// OpenMP threads that have nothing to do shall sleep rather than spin, as builders wait for data
/// most of the time and the cores belong to other ranks as well. The OpenMP library reads its
/// settings when it is loaded: where several threads are asked for and the user has not chosen, this
/// starts the program anew with OMP_WAIT_POLICY=passive. Call it first of all.
void let_idle_threads_sleep(char** argv);

}  // namespace eventloom
