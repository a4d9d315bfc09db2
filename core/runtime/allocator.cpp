#include "core/runtime/allocator.hpp"

#include <malloc.h>

namespace eventloom {

namespace {

/// The largest block that the allocator does not map by itself; the most that glibc accepts.
constexpr int kLargestReused = 32 << 20;
/// Of each heap, free at its end.
constexpr int kMostKept = 256 << 20;

}  // namespace

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, kLargestReused);
  mallopt(M_TRIM_THRESHOLD, kMostKept);
}

}  // namespace eventloom
