#include "core/runtime/threads.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace eventloom {

std::size_t builder_threads() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr) return 1;
  return static_cast<std::size_t>(std::max(1, omp_get_max_threads()));
}

void let_idle_threads_sleep(char** argv) {
  if (builder_threads() == 1 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  // If that is impossible the run still works, but idle threads spin.
  execv("/proc/self/exe", argv);
}

}  // namespace eventloom
