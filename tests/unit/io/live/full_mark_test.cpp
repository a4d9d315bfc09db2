#include "io/live/full_mark.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace eventloom {
namespace {

using std::chrono::seconds;

class FullMarkTest : public testing::Test {
 protected:
  FullMarkTest() { std::filesystem::create_directories(folder_); }
  ~FullMarkTest() override { std::filesystem::remove_all(folder_); }

  FullMark::Time at(int second) const { return begin_ + seconds(second); }
  /// As another recorder's clock has it.
  void renew(int second) {
    renew_full_mark(place_);
    std::filesystem::last_write_time(place_, std::filesystem::file_time_type() + seconds(second));
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("eventloom-full-" + std::to_string(::getpid()));
  std::filesystem::path place_ = folder_ / "source_000.full";
  FullMark mark_{folder_ / "source_000.000012.epochs"};
  FullMark::Time begin_{};
};

TEST_F(FullMarkTest, HoldsWhileItIsRenewed) {
  EXPECT_FALSE(mark_.is_fresh(at(1)));
  for (int second = 2; second < 10; ++second) {
    renew(second);
    EXPECT_TRUE(mark_.is_fresh(at(second)));
  }
  remove_full_mark(place_);
  EXPECT_FALSE(mark_.is_fresh(at(10)));
}

TEST_F(FullMarkTest, ADeadRecordersHoldsForSecondsOnly) {
  renew(1);
  EXPECT_TRUE(mark_.is_fresh(at(100)));
  EXPECT_TRUE(mark_.is_fresh(at(102)));
  EXPECT_FALSE(mark_.is_fresh(at(103)));
  renew(2);
  EXPECT_TRUE(mark_.is_fresh(at(104)));
}

TEST_F(FullMarkTest, IsLeftByARecorderThatHasEnded) {
  EXPECT_FALSE(mark_.is_left(true, at(1)));
  renew(1);
  EXPECT_TRUE(mark_.is_left(true, at(2)));
  EXPECT_FALSE(mark_.is_left(false, at(2))) << "it may have room again";
  EXPECT_TRUE(mark_.is_left(false, at(10)));
}

TEST_F(FullMarkTest, FilesOfOthersStay) {
  std::ofstream(place_) << "mine";
  remove_full_mark(place_);
  EXPECT_TRUE(std::filesystem::exists(place_));
}

}  // namespace
}  // namespace eventloom
