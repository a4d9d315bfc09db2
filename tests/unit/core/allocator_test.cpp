#include "core/runtime/allocator.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <vector>

#include "child_process.hpp"

namespace eventloom {
namespace {

constexpr long kPagesOfOnce = 1024;

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Allocates like an MBS server for a client: 4 MiB in buffers of 64 KiB, all freed in between.
void fill_and_free(int times) {
  for (int i = 0; i < times; ++i) {
    std::vector<std::vector<char>> buffers(64);
    for (auto& buffer : buffers) buffer.assign(std::size_t{64} << 10, 'x');
  }
}

/// Ends with code 1 if freed memory is returned to the system and must be mapped again.
[[noreturn]] void use_memory_again_and_again() {
  keep_freed_memory();
  fill_and_free(2);
  const auto before = page_faults();
  fill_and_free(20);
  _exit(page_faults() - before < kPagesOfOnce ? 0 : 1);
}

TEST(FreedMemory, IsUsedAgain) {
#ifdef EVENTLOOM_SANITIZED
  GTEST_SKIP() << "sanitizers have an allocator of their own";
#endif
  ChildProcess child(use_memory_again_and_again);
  const int status = child.exit_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace eventloom
