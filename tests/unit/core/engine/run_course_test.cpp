#include "core/engine/run_course.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

constexpr SliceId kSlice{7};

TEST(RunCourse, APauseFreezesTheSourcesUntilTheirSliceIsKnown) {
  RunCourse course;
  EXPECT_FALSE(course.frozen());
  EXPECT_TRUE(course.pause());
  EXPECT_TRUE(course.frozen() && course.paused());
  EXPECT_FALSE(course.pause()) << "it pauses already";
  course.go_up_to(kSlice);
  EXPECT_TRUE(course.paused() && !course.frozen());
  EXPECT_EQ(course.end(), std::nullopt) << "the data do not end there";
  EXPECT_TRUE(course.resume());
  EXPECT_FALSE(course.paused() || course.resume());
}

TEST(RunCourse, AResumedPauseNeedsNoSlice) {
  RunCourse course;
  course.pause();
  EXPECT_TRUE(course.resume());
  EXPECT_FALSE(course.frozen());
}

/// The slice of the pause is not that of the end.
TEST(RunCourse, AnEndInAPauseFreezesAgain) {
  RunCourse course;
  course.pause();
  course.go_up_to(kSlice);
  EXPECT_TRUE(course.stop(true));
  EXPECT_TRUE(course.frozen() && course.stopping() && course.ends());
  EXPECT_FALSE(course.paused());
  EXPECT_EQ(course.end(), std::nullopt);
  course.go_up_to({9});
  EXPECT_EQ(course.end(), SliceId{9});
}

TEST(RunCourse, NothingFollowsAStop) {
  RunCourse course;
  EXPECT_TRUE(course.stop(false));
  EXPECT_FALSE(course.stop(true) || course.pause() || course.resume());
  course.go_up_to(kSlice);
  EXPECT_TRUE(course.stopping() && !course.ends() && !course.frozen());
  EXPECT_EQ(course.end(), std::nullopt) << "another run continues there";
}

}  // namespace
}  // namespace eventloom
