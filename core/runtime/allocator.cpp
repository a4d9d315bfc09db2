#include "core/runtime/allocator.hpp"

#include <malloc.h>

namespace eventloom {

namespace {

/// Blocks above this size are mapped individually; the maximum that glibc accepts.
constexpr int kLargestReused = 32 << 20;
/// Free memory kept at the end of each heap.
constexpr int kMostKept = 256 << 20;

}  // namespace

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, kLargestReused);
  mallopt(M_TRIM_THRESHOLD, kMostKept);
}

}  // namespace eventloom
