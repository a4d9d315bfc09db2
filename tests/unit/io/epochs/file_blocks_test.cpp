#include "io/epochs/file_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

using FileBlocksTest = EpochFiles;

/// Bytes that tell where they are.
Bytes bytes_by_place(std::size_t n) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

bool holds(std::span<const std::byte> found, const Bytes& file, std::size_t offset) {
  return std::ranges::equal(found, std::span(file).subspan(offset, found.size()));
}

TEST_F(FileBlocksTest, KeepsWhatIsNotReleased) {
  const auto bytes = bytes_by_place(5000);
  FileBlocks blocks(write(bytes));
  const auto first = blocks.read(8, 1000, 10);
  const auto second = blocks.read(2000, 3000, 20);
  blocks.release_before(19);
  const auto third = blocks.read(400, 1000, 30);
  ASSERT_EQ(second.size(), 3000U);
  EXPECT_TRUE(holds(second, bytes, 2000));
  ASSERT_EQ(third.size(), 1000U);
  EXPECT_TRUE(holds(third, bytes, 400));
  EXPECT_EQ(third.data(), first.data()) << "released memory is used again";
}

TEST_F(FileBlocksTest, DoesNotReadTwiceWhatItHolds) {
  const auto bytes = bytes_by_place(5000);
  FileBlocks blocks(write(bytes));
  const auto whole = blocks.read(1000, 2000, 100);
  for (const std::size_t offset : {1000, 1008, 2992}) {
    const auto part = blocks.read(offset, 8, 100);
    EXPECT_EQ(part.data(), whole.data() + (offset - 1000));
    EXPECT_EQ(part.size(), 8U);
  }
  const auto beyond = blocks.read(2992, 16, 100);
  EXPECT_TRUE(holds(beyond, bytes, 2992));
  EXPECT_NE(beyond.data(), whole.data() + 1992);
}

TEST_F(FileBlocksTest, ReportsBytesThatAreGone) {
  const auto path = write(bytes_by_place(5000));
  FileBlocks blocks(path);
  std::filesystem::resize_file(path, 3000);
  EXPECT_EQ(blocks.read(1000, 2000, 1).size(), 2000U);
  EXPECT_FALSE(blocks.lost());
  EXPECT_EQ(blocks.read(2000, 2000, 1).size(), 1000U);
  EXPECT_TRUE(blocks.lost());
}

}  // namespace
}  // namespace eventloom::test
