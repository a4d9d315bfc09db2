#include "core/runtime/memory_reserve.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <new>

#include "child_process.hpp"

namespace eventloom {
namespace {

constexpr std::size_t kPiece = 1000;

/// The number of pieces allocated until memory runs out. They are never freed.
std::size_t take_all() {
  std::size_t n = 0;
  try {
    for (;; ++n) *static_cast<volatile char*>(::operator new(kPiece)) = 1;
  } catch (const std::bad_alloc&) {
  }
  return n;
}

/// Ends with the number of times, at most 2, that at least a tenth of the reserve was available when memory had run
/// out.
[[noreturn]] void use_up_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::size_t{512} << 20;
  setrlimit(RLIMIT_AS, &limit);
  keep_memory_reserve();
  int times = 0;
  take_all();
  for (int again = 0; again < 2; ++again) times += take_all() > (std::size_t{1} << 20) / kPiece / 10 ? 1 : 0;
  _exit(times);
}

TEST(MemoryReserve, IsThereOnceWhenNothingIsLeft) {
#ifdef EVENTLOOM_SANITIZED
  GTEST_SKIP() << "sanitizers have an allocator of their own, without a handler";
#endif
  ChildProcess child(use_up_memory);
  const int status = child.exit_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace eventloom
