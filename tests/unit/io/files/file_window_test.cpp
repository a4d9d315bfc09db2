#include "io/files/file_window.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

/// More than several windows, and no multiple of anything.
constexpr std::size_t kLong = 3'000'017;

/// The byte that stands at `offset` in every file here.
std::byte byte_at(std::uint64_t offset) { return std::byte(offset * 2654435761U >> 13 & 0xffU); }

class FileWindows : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("file_window_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "data").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(std::size_t bytes) const {
    std::vector<char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(byte_at(i));
    std::ofstream out(path_, std::ios::binary);
    out.write(data.data(), static_cast<std::streamsize>(bytes));
  }

  static void expect_bytes(std::span<const std::byte> bytes, std::uint64_t offset) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], byte_at(offset + i)) << "byte " << offset + i;
    }
  }

  static void expect_aligned(std::span<const std::byte> bytes, std::uint64_t offset) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, offset % 8) << "at offset " << offset;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(FileWindows, GivesTheFileByteForByteHoweverItIsStepped) {
  write(kLong);
  std::mt19937_64 random(1);
  const std::size_t wishes[] = {0, 1, 7, 8, 100, 4096, 100'000, 262'144, 262'145, 700'000};
  for (int round = 0; round < 8; ++round) {
    FileWindow window(path_);
    EXPECT_EQ(window.path(), path_);
    std::uint64_t offset = 0;
    while (window.left() > 0) {
      ASSERT_EQ(window.offset(), offset);
      ASSERT_EQ(window.size(), kLong);
      ASSERT_EQ(window.left(), kLong - offset);
      const std::size_t wish = wishes[random() % std::size(wishes)];
      const auto front = window.front(wish);
      ASSERT_GE(front.size(), std::min<std::uint64_t>(wish, kLong - offset));
      ASSERT_LE(front.size(), kLong - offset);
      if (!front.empty()) expect_aligned(front, offset);
      expect_bytes(front.first(std::min<std::size_t>(front.size(), 2000)), offset);
      expect_bytes(front.last(std::min<std::size_t>(front.size(), 2000)),
                   offset + front.size() - std::min<std::size_t>(front.size(), 2000));
      const std::uint64_t n = random() % 3 == 0 ? random() % 400'000 : random() % (front.size() + 1);
      window.skip(n);
      offset = std::min<std::uint64_t>(offset + n, kLong);
    }
    EXPECT_EQ(offset, kLong);
    EXPECT_TRUE(window.failure().empty());
    EXPECT_TRUE(window.front(1).empty());
  }
}

TEST_F(FileWindows, SpansAreAlignedAsTheOffsetIs) {
  write(kLong);
  FileWindow window(path_);
  for (const std::uint64_t step : {0U, 1U, 2U, 3U, 262'141U, 4U, 5U, 600'003U, 7U, 300'000U, 13U}) {
    window.skip(step);
    for (const std::size_t wish : {1U, 9U, 270'001U}) {
      const auto front = window.front(wish);
      expect_aligned(front, window.offset());
      ASSERT_GE(front.size(), wish);
      expect_bytes(front.first(wish), window.offset());
    }
  }
}

TEST_F(FileWindows, ALargeRequestIsMetWhole) {
  write(kLong);
  FileWindow window(path_);
  window.front(16);
  window.skip(5);
  const auto front = window.front(2'500'000);
  ASSERT_GE(front.size(), 2'500'000U);
  expect_aligned(front, 5);
  expect_bytes(front, 5);
  window.skip(2'400'000);
  expect_bytes(window.front(500'000), 2'400'005);
  EXPECT_EQ(window.front(std::numeric_limits<std::size_t>::max()).size(), kLong - 2'400'005);
  EXPECT_TRUE(window.failure().empty());
}

TEST_F(FileWindows, AWindowStaysNarrowWhileLittleIsAskedFor) {
  write(kLong);
  FileWindow window(path_);
  while (window.left() > 0) {
    EXPECT_LE(window.front(64).size(), 300U << 10);
    window.skip(1000);
  }
}

TEST_F(FileWindows, TheEndIsNoFailure) {
  write(100);
  FileWindow window(path_);
  EXPECT_EQ(window.front(40).size(), 100U);
  EXPECT_EQ(window.front(1000).size(), 100U);
  window.skip(90);
  EXPECT_EQ(window.front(11).size(), 10U);
  expect_bytes(window.front(11), 90);
  EXPECT_TRUE(window.failure().empty());
  EXPECT_FALSE(window.has_grown());
}

TEST_F(FileWindows, SkippingBeyondTheEndStopsThere) {
  for (const std::uint64_t n : {std::uint64_t{101}, std::numeric_limits<std::uint64_t>::max()}) {
    for (const bool read_before : {false, true}) {
      write(100);
      FileWindow window(path_);
      window.skip(1);
      if (read_before) window.front(10);
      window.skip(n);
      EXPECT_EQ(window.offset(), 100U);
      EXPECT_EQ(window.left(), 0U);
      EXPECT_TRUE(window.front(1).empty());
      window.skip(1);
      EXPECT_EQ(window.offset(), 100U);
      EXPECT_TRUE(window.failure().empty());
    }
  }
}

TEST_F(FileWindows, AnEmptyFileHasNoBytes) {
  write(0);
  FileWindow window(path_);
  EXPECT_EQ(window.size(), 0U);
  EXPECT_EQ(window.left(), 0U);
  EXPECT_TRUE(window.front(8).empty());
  window.skip(8);
  EXPECT_EQ(window.offset(), 0U);
  EXPECT_TRUE(window.failure().empty());
  EXPECT_FALSE(window.has_grown());
}

TEST_F(FileWindows, AFileThatIsCutEndsEarlyAndSaysWhy) {
  write(kLong);
  FileWindow window(path_);
  window.front(1000);
  window.skip(500);
  std::filesystem::resize_file(path_, 1'000'001);
  const auto front = window.front(2'000'000);
  EXPECT_EQ(front.size(), 1'000'001U - 500);
  expect_bytes(front, 500);
  EXPECT_NE(window.failure().find("shorter"), std::string::npos) << window.failure();
  EXPECT_EQ(window.left(), 1'000'001U - 500);
  EXPECT_FALSE(window.has_grown());
  while (window.left() > 0) {
    ASSERT_FALSE(window.front(64).empty());
    expect_bytes(window.front(64).first(1), window.offset());
    window.skip(4096);
  }
  EXPECT_EQ(window.offset(), 1'000'001U);
  EXPECT_TRUE(window.front(1).empty());
}

TEST_F(FileWindows, ACutBeforeTheFrontEndsTheFileThere) {
  write(kLong);
  FileWindow window(path_);
  window.skip(2'000'000);
  std::filesystem::resize_file(path_, 1000);
  EXPECT_TRUE(window.front(64).empty());
  EXPECT_FALSE(window.failure().empty());
  EXPECT_EQ(window.left(), 0U);
  EXPECT_EQ(window.offset(), 2'000'000U);
}

TEST_F(FileWindows, WhatWasReadBeforeACutIsStillGood) {
  write(100'000);
  FileWindow window(path_);
  ASSERT_EQ(window.front(1).size(), 100'000U);
  std::filesystem::resize_file(path_, 0);
  window.skip(60'000);
  expect_bytes(window.front(40'000), 60'000);
  EXPECT_EQ(window.front(40'000).size(), 40'000U);
  EXPECT_TRUE(window.failure().empty());
}

TEST_F(FileWindows, WhatIsAppendedIsNotReadButSeen) {
  write(1000);
  FileWindow window(path_);
  EXPECT_FALSE(window.has_grown());
  write(2000);
  EXPECT_TRUE(window.has_grown());
  EXPECT_EQ(window.size(), 1000U);
  EXPECT_EQ(window.front(1500).size(), 1000U);
  window.skip(1500);
  EXPECT_EQ(window.offset(), 1000U);
  EXPECT_TRUE(window.front(1).empty());
  EXPECT_TRUE(window.failure().empty());
}

std::string refusal_of(const std::string& path) {
  try {
    const FileWindow window(path);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST_F(FileWindows, WhatIsNoFileIsRefusedWithItsName) {
  const auto missing = refusal_of(path_);
  EXPECT_NE(missing.find(path_), std::string::npos);
  EXPECT_NE(missing.find("No such file"), std::string::npos) << missing;
  const auto folder = refusal_of(folder_.string());
  EXPECT_NE(folder.find(folder_.string()), std::string::npos);
  EXPECT_NE(folder.find("not a regular file"), std::string::npos) << folder;
  EXPECT_NE(refusal_of("/dev/null").find("not a regular file"), std::string::npos);
}

TEST_F(FileWindows, ARefusedFileIsNotLeftOpen) {
  const int before = ::open("/dev/null", O_RDONLY);
  for (int i = 0; i < 10; ++i) refusal_of(folder_.string());
  const int after = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(after, before + 1);
  ::close(before);
  ::close(after);
}

/// Without a writer an open FIFO would wait for ever.
TEST_F(FileWindows, AFifoIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::atomic<bool> done = false;
  std::string refusal;
  std::thread opener([&] {
    refusal = refusal_of(path_);
    done = true;
  });
  for (int i = 0; i < 200 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(done) << "opening a FIFO waits for a writer";
  const int release = ::open(path_.c_str(), O_RDWR | O_NONBLOCK);
  opener.join();
  ::close(release);
  EXPECT_NE(refusal.find("not a regular file"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace eventloom
