#include "core/runtime/activity.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

namespace eventloom {

namespace {

// The main thread writes, others read. The version is odd while the pair changes, and differs afterwards: readers retry
// until both parts match.
std::atomic<std::uint64_t> version{0};
std::atomic<const char*> current_what{""};
std::atomic<int> current_about{-1};
// Used by the main thread only: the activity that an exception interrupted.
const char* failed_what = nullptr;

void set(const char* what, int about) {
  const std::uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  // A reader that sees one of these also sees the odd version.
  current_what.store(what, std::memory_order_release);
  current_about.store(about, std::memory_order_release);
  version.store(before + 2, std::memory_order_release);
}

}  // namespace

Activity::Activity(const char* what, int about)
    : outer_what_(current_what.load(std::memory_order_relaxed)),
      outer_about_(current_about.load(std::memory_order_relaxed)) {
  set(what, about);
}

Activity::~Activity() {
  if (std::uncaught_exceptions() > 0) {
    // The innermost scope is left first.
    if (failed_what == nullptr) failed_what = current_what.load(std::memory_order_relaxed);
  } else {
    failed_what = nullptr;
  }
  set(outer_what_, outer_about_);
}

const char* interrupted_activity() { return failed_what == nullptr ? "" : failed_what; }

CurrentActivity current_activity() {
  for (;; std::this_thread::yield()) {
    const std::uint64_t before = version.load(std::memory_order_acquire);
    const char* const what = current_what.load(std::memory_order_acquire);
    const int about = current_about.load(std::memory_order_acquire);
    if (before % 2 != 0 || version.load(std::memory_order_relaxed) != before) continue;
    return {what, about};
  }
}

}  // namespace eventloom
