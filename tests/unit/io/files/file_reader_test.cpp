#include "io/files/file_reader.hpp"

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

/// Longer than several buffers, and not a multiple of any.
constexpr std::size_t kLong = 3'000'017;

/// The byte at `offset` in every file here.
std::byte byte_at(std::uint64_t offset) { return std::byte(offset * 2654435761U >> 13 & 0xffU); }

class FileReading : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("file_reader_test." + std::to_string(getpid()));
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

TEST_F(FileReading, GivesTheFileByteForByteHoweverItIsStepped) {
  write(kLong);
  std::mt19937_64 random(1);
  const std::size_t wishes[] = {0, 1, 7, 8, 100, 4096, 100'000, 262'144, 262'145, 700'000};
  for (int round = 0; round < 8; ++round) {
    FileReader file(path_);
    EXPECT_EQ(file.path(), path_);
    std::uint64_t offset = 0;
    while (file.left() > 0) {
      ASSERT_EQ(file.offset(), offset);
      ASSERT_EQ(file.size(), kLong);
      ASSERT_EQ(file.left(), kLong - offset);
      const std::size_t wish = wishes[random() % std::size(wishes)];
      const auto front = file.front(wish);
      ASSERT_GE(front.size(), std::min<std::uint64_t>(wish, kLong - offset));
      ASSERT_LE(front.size(), kLong - offset);
      if (!front.empty()) expect_aligned(front, offset);
      expect_bytes(front.first(std::min<std::size_t>(front.size(), 2000)), offset);
      expect_bytes(front.last(std::min<std::size_t>(front.size(), 2000)),
                   offset + front.size() - std::min<std::size_t>(front.size(), 2000));
      const std::uint64_t n = random() % 3 == 0 ? random() % 400'000 : random() % (front.size() + 1);
      file.skip(n);
      offset = std::min<std::uint64_t>(offset + n, kLong);
    }
    EXPECT_EQ(offset, kLong);
    EXPECT_TRUE(file.failure().empty());
    EXPECT_TRUE(file.front(1).empty());
  }
}

TEST_F(FileReading, SpansAreAlignedAsTheOffsetIs) {
  write(kLong);
  FileReader file(path_);
  for (const std::uint64_t step : {0U, 1U, 2U, 3U, 262'141U, 4U, 5U, 600'003U, 7U, 300'000U, 13U}) {
    file.skip(step);
    for (const std::size_t wish : {1U, 9U, 270'001U}) {
      const auto front = file.front(wish);
      expect_aligned(front, file.offset());
      ASSERT_GE(front.size(), wish);
      expect_bytes(front.first(wish), file.offset());
    }
  }
}

TEST_F(FileReading, ALargeRequestIsMetWhole) {
  write(kLong);
  FileReader file(path_);
  file.front(16);
  file.skip(5);
  const auto front = file.front(2'500'000);
  ASSERT_GE(front.size(), 2'500'000U);
  expect_aligned(front, 5);
  expect_bytes(front, 5);
  file.skip(2'400'000);
  expect_bytes(file.front(500'000), 2'400'005);
  EXPECT_EQ(file.front(std::numeric_limits<std::size_t>::max()).size(), kLong - 2'400'005);
  EXPECT_TRUE(file.failure().empty());
}

TEST_F(FileReading, AWindowStaysNarrowWhileLittleIsAskedFor) {
  write(kLong);
  FileReader file(path_);
  while (file.left() > 0) {
    EXPECT_LE(file.front(64).size(), 100U << 10);
    file.skip(1000);
  }
}

TEST_F(FileReading, TheEndIsNoFailure) {
  write(100);
  FileReader file(path_);
  EXPECT_EQ(file.front(40).size(), 100U);
  EXPECT_EQ(file.front(1000).size(), 100U);
  file.skip(90);
  EXPECT_EQ(file.front(11).size(), 10U);
  expect_bytes(file.front(11), 90);
  EXPECT_TRUE(file.failure().empty());
  EXPECT_FALSE(file.has_grown());
}

TEST_F(FileReading, SkippingBeyondTheEndStopsThere) {
  for (const std::uint64_t n : {std::uint64_t{101}, std::numeric_limits<std::uint64_t>::max()}) {
    for (const bool read_before : {false, true}) {
      write(100);
      FileReader file(path_);
      file.skip(1);
      if (read_before) file.front(10);
      file.skip(n);
      EXPECT_EQ(file.offset(), 100U);
      EXPECT_EQ(file.left(), 0U);
      EXPECT_TRUE(file.front(1).empty());
      file.skip(1);
      EXPECT_EQ(file.offset(), 100U);
      EXPECT_TRUE(file.failure().empty());
    }
  }
}

TEST_F(FileReading, AnEmptyFileHasNoBytes) {
  write(0);
  FileReader file(path_);
  EXPECT_EQ(file.size(), 0U);
  EXPECT_EQ(file.left(), 0U);
  EXPECT_TRUE(file.front(8).empty());
  file.skip(8);
  EXPECT_EQ(file.offset(), 0U);
  EXPECT_TRUE(file.failure().empty());
  EXPECT_FALSE(file.has_grown());
}

TEST_F(FileReading, AFileThatIsCutEndsEarlyAndSaysWhy) {
  write(kLong);
  FileReader file(path_);
  file.front(1000);
  file.skip(500);
  std::filesystem::resize_file(path_, 1'000'001);
  const auto front = file.front(2'000'000);
  EXPECT_EQ(front.size(), 1'000'001U - 500);
  expect_bytes(front, 500);
  EXPECT_NE(file.failure().find("shorter"), std::string::npos) << file.failure();
  EXPECT_EQ(file.left(), 1'000'001U - 500);
  EXPECT_FALSE(file.has_grown());
  while (file.left() > 0) {
    ASSERT_FALSE(file.front(64).empty());
    expect_bytes(file.front(64).first(1), file.offset());
    file.skip(4096);
  }
  EXPECT_EQ(file.offset(), 1'000'001U);
  EXPECT_TRUE(file.front(1).empty());
}

TEST_F(FileReading, ACutBeforeTheFrontEndsTheFileThere) {
  write(kLong);
  FileReader file(path_);
  file.skip(2'000'000);
  std::filesystem::resize_file(path_, 1000);
  EXPECT_TRUE(file.front(64).empty());
  EXPECT_FALSE(file.failure().empty());
  EXPECT_EQ(file.left(), 0U);
  EXPECT_EQ(file.offset(), 2'000'000U);
}

TEST_F(FileReading, WhatWasReadBeforeACutIsStillGood) {
  write(50'000);
  FileReader file(path_);
  ASSERT_EQ(file.front(1).size(), 50'000U);
  std::filesystem::resize_file(path_, 0);
  file.skip(30'000);
  expect_bytes(file.front(20'000), 30'000);
  EXPECT_EQ(file.front(20'000).size(), 20'000U);
  EXPECT_TRUE(file.failure().empty());
}

TEST_F(FileReading, WhatIsAppendedIsNotReadButSeen) {
  write(1000);
  FileReader file(path_);
  EXPECT_FALSE(file.has_grown());
  write(2000);
  EXPECT_TRUE(file.has_grown());
  EXPECT_EQ(file.size(), 1000U);
  EXPECT_EQ(file.front(1500).size(), 1000U);
  file.skip(1500);
  EXPECT_EQ(file.offset(), 1000U);
  EXPECT_TRUE(file.front(1).empty());
  EXPECT_TRUE(file.failure().empty());
}

std::string refusal_of(const std::string& path) {
  try {
    const FileReader file(path);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST_F(FileReading, WhatIsNoFileIsRefusedWithItsName) {
  const auto missing = refusal_of(path_);
  EXPECT_NE(missing.find(path_), std::string::npos);
  EXPECT_NE(missing.find("No such file"), std::string::npos) << missing;
  const auto folder = refusal_of(folder_.string());
  EXPECT_NE(folder.find(folder_.string()), std::string::npos);
  EXPECT_NE(folder.find("not a regular file"), std::string::npos) << folder;
  EXPECT_NE(refusal_of("/dev/null").find("not a regular file"), std::string::npos);
}

TEST_F(FileReading, ARefusedFileIsNotLeftOpen) {
  const int before = ::open("/dev/null", O_RDONLY);
  for (int i = 0; i < 10; ++i) refusal_of(folder_.string());
  const int after = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(after, before + 1);
  ::close(before);
  ::close(after);
}

/// Opening a FIFO without a writer would wait forever.
TEST_F(FileReading, AFifoIsRefusedAtOnce) {
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
