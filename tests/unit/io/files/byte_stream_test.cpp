#include "io/files/byte_stream.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class ByteStreams : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("byte_stream_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 60'000; ++i) text_ += std::to_string(i * 7919) + "\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  static std::string rest_of(ByteStream& stream, std::size_t step) {
    std::string all;
    std::vector<std::byte> block(step);
    while (const auto n = stream.read(block)) all.append(reinterpret_cast<const char*>(block.data()), n);
    return all;
  }

  std::filesystem::path folder_;
  std::string text_;
};

TEST_F(ByteStreams, UnpackPiecesOfAnySize) {
  const auto path = put("a.gz", gzipped(text_) + gzipped("") + gzipped("end") + std::string(9, '\0'));
  for (const std::size_t step : {1U, 7U, 65536U, 1U << 20}) {
    ByteStream stream(path);
    EXPECT_TRUE(stream.is_packed());
    EXPECT_EQ(rest_of(stream, step), text_ + "end");
    EXPECT_EQ(stream.failure(), "");
    EXPECT_EQ(stream.offset(), text_.size() + 3);
    EXPECT_EQ(stream.share_read(), 1);
  }
  ByteStream stream(path);
  stream.skip(1000);
  EXPECT_EQ(rest_of(stream, 500), text_.substr(1000) + "end");
}

TEST_F(ByteStreams, FramesToBeSkippedMayLieAnywhere) {
  const std::string skipped("\x5e\x2a\x4d\x18\x05\0\0\0hello", 13);
  const auto packed = gzipped(text_);
  const auto path = put("metadata", skipped + skipped + packed + skipped + std::string(3, '\0') + packed + skipped);
  for (const std::size_t step : {1U, 4096U}) {
    ByteStream stream(path);
    EXPECT_EQ(rest_of(stream, step), text_ + text_);
    EXPECT_EQ(stream.failure(), "");
  }
  ByteStream cut(put("cut.gz", packed + skipped.substr(0, 11)));
  EXPECT_EQ(rest_of(cut, 4096), text_);
  EXPECT_NE(cut.failure().find("the file ends inside its compressed data"), std::string::npos);
  ByteStream junk(put("junk.gz", packed + "junk"));
  EXPECT_EQ(rest_of(junk, 4096), text_);
  EXPECT_NE(junk.failure().find("damaged"), std::string::npos);
}

TEST_F(ByteStreams, EveryCutIsAFailure) {
  const auto whole = gzipped(text_.substr(0, 200));
  for (std::size_t bytes = 3; bytes < whole.size(); ++bytes) {
    ByteStream stream(put("cut.gz", whole.substr(0, bytes)));
    const auto kept = rest_of(stream, 100);
    EXPECT_EQ(kept, text_.substr(0, kept.size()));
    EXPECT_NE(stream.failure(), "") << bytes << " of " << whole.size() << " bytes";
  }
}

TEST_F(ByteStreams, AFileReaderKnowsTheSizeOfTheContents) {
  const auto whole = gzipped(text_);
  FileReader file(put("a.gz", whole));
  EXPECT_EQ(file.size(), text_.size());
  file.skip(100'000);
  const auto front = file.front(200'000);
  ASSERT_GE(front.size(), 200'000U);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(front.data()), 1000), text_.substr(100'000, 1000));
  EXPECT_FALSE(file.has_grown());
  FileReader cut(put("cut.gz", whole.substr(0, whole.size() / 2)));
  EXPECT_LT(cut.size(), text_.size());
  EXPECT_EQ(cut.failure(), "");
  while (cut.left() != 0) cut.skip(cut.front(1).size());
  EXPECT_NE(cut.failure().find("inside its compressed data"), std::string::npos) << cut.failure();
}

TEST_F(ByteStreams, ManyFilesShareFewDescriptors) {
  constexpr int kFiles = 3 * static_cast<int>(InputHandle::kMostOpen);
  const auto open_files = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = open_files();
  std::list<ByteStream> streams;
  for (int i = 0; i < kFiles; ++i) streams.emplace_back(put(std::to_string(i), std::to_string(i) + text_));
  EXPECT_LE(open_files() - before, static_cast<std::ptrdiff_t>(InputHandle::kMostOpen));
  for (int round = 0; round < 3; ++round) {
    for (auto& stream : streams) {
      std::vector<std::byte> block(1000);
      EXPECT_EQ(stream.read(block), block.size());
    }
  }
  EXPECT_LE(open_files() - before, static_cast<std::ptrdiff_t>(InputHandle::kMostOpen));
  int i = 0;
  for (auto& stream : streams) EXPECT_EQ(rest_of(stream, 1 << 20), (std::to_string(i++) + text_).substr(3000));
  streams.clear();
  EXPECT_EQ(open_files(), before);
}

TEST_F(ByteStreams, AFileThatIsReplacedIsNotReadOn) {
  std::list<ByteStream> streams;
  streams.emplace_back(put("first", text_));
  for (int i = 0; i < 2 * static_cast<int>(InputHandle::kMostOpen); ++i) streams.emplace_back(put("other", "x"));
  std::filesystem::rename(put("new", text_), folder_ / "first");
  EXPECT_EQ(rest_of(streams.front(), 1000), "");
  EXPECT_EQ(streams.front().failure(), "the file was replaced while it was read");
}

TEST_F(ByteStreams, OtherPackingsAreNamed) {
  const auto path = put("a.zip", "PK\x03\x04 and more");
  try {
    ByteStream stream(path);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("unzip '" + path + "'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace eventloom
