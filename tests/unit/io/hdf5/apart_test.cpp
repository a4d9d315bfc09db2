#include "io/hdf5/apart.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

#include "run_maker.hpp"

namespace eventloom {
namespace {

TEST(Apart, WhatReturnsOrThrowsDoesNotDie) {
  EXPECT_FALSE(dies_apart([] {}));
  EXPECT_FALSE(dies_apart([] { throw std::runtime_error("no"); }));
}

TEST(Apart, WhatCrashesDies) {
  EXPECT_TRUE(dies_apart([] { std::raise(SIGSEGV); }));
}

class ApartTest : public FolderTest {};

/// The child waits without using processor time.
TEST_F(ApartTest, WhatWaitsForeverDies) {
  const auto fifo = folder / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(dies_apart([&] { std::ifstream(fifo).get(); }, {.clock = std::chrono::milliseconds(100)}),
            "HDF5 does not terminate on it");
}

TEST_F(ApartTest, LargeFilesHaveMoreTime) {
  const auto large = folder / "large";
  std::ofstream(large).close();
  std::filesystem::resize_file(large, 10'000'000'000);
  EXPECT_GT(ApartLimits::of_file(large).processor, ApartLimits().processor);
  EXPECT_GT(ApartLimits::of_file(large).clock, ApartLimits().clock);
}

}  // namespace
}  // namespace eventloom
