#include "io/recorded/file_end.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace eventloom {
namespace {

constexpr const char* kCut = "the file ends 4 bytes into a record";

class FileEnd : public testing::Test {
 protected:
  FileEnd() { append(100); }
  ~FileEnd() override { std::filesystem::remove(path_); }

  void append(std::size_t bytes) const { std::ofstream(path_, std::ios::app) << std::string(bytes, 'x'); }

  std::string path_ = (std::filesystem::temp_directory_path() / ("file_end_test." + std::to_string(getpid()))).string();
};

TEST_F(FileEnd, OfAWholeFileIsNoLoss) {
  FileReader file(path_);
  file.skip(100);
  DefectLog defect_log(path_);
  HitBlock block;
  report_end(file, "", 0, defect_log, block);
  EXPECT_EQ(end_defect(file), "");
  EXPECT_TRUE(block.losses.empty());
}

TEST_F(FileEnd, InsideARecordBreaksOff) {
  FileReader file(path_);
  file.skip(96);
  DefectLog defect_log(path_);
  HitBlock block;
  block.time = {1, 2};
  report_end(file, kCut, 3, defect_log, block);
  EXPECT_EQ(end_defect(file, kCut), kCut);
  ASSERT_EQ(block.losses.size(), 1U);
  EXPECT_EQ(block.losses[0].before, 2U);
  EXPECT_EQ(block.losses[0].offset, 96U);
  EXPECT_EQ(block.losses[0].hits, 3U);
  EXPECT_TRUE(block.losses[0].breaks_off);
}

TEST_F(FileEnd, OfAFileThatHasGrownBreaksOff) {
  FileReader file(path_);
  append(1);
  file.skip(100);
  DefectLog defect_log(path_);
  HitBlock block;
  report_end(file, "", 0, defect_log, block);
  EXPECT_NE(end_defect(file).find("has grown"), std::string::npos);
  ASSERT_EQ(block.losses.size(), 1U);
  EXPECT_TRUE(block.losses[0].breaks_off);
}

TEST_F(FileEnd, OfATruncatedFileIsReportedFirst) {
  FileReader file(path_);
  std::filesystem::resize_file(path_, 10);
  static_cast<void>(file.front(100));
  EXPECT_FALSE(file.failure().empty());
  EXPECT_EQ(end_defect(file, kCut), file.failure());
}

}  // namespace
}  // namespace eventloom
