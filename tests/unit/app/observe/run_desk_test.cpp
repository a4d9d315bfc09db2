#include "app/observe/run_desk.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace eventloom {
namespace {

constexpr const char* kServed = "the last request is still being served";

class RunDeskTest : public testing::Test {
 protected:
  RunDeskTest() {
    desk_.wait(0);
    EXPECT_EQ(ask(RunRequest::What::start), "");
    EXPECT_TRUE(desk_.take_begin().has_value());
    desk_.begin(1);
  }

  std::string ask(RunRequest::What what, std::string comment = {}) {
    return desk_.ask({.what = what, .comment = std::move(comment)});
  }

  RunDesk desk_;  ///< of which run 1 is active
};

TEST_F(RunDeskTest, NoStartInARun) {
  EXPECT_EQ(ask(RunRequest::What::start), "run 1 is active; stop-run ends it, next-run also begins another");
}

TEST_F(RunDeskTest, AStartWaitsForTheRunThatIsBeingEnded) {
  ASSERT_EQ(ask(RunRequest::What::stop_run), "");
  ASSERT_TRUE(desk_.take_end().has_value());
  EXPECT_EQ(ask(RunRequest::What::start, "the next"), "");
  EXPECT_TRUE(ask(RunRequest::What::start).starts_with(kServed));
  EXPECT_TRUE(ask(RunRequest::What::stop_run).starts_with(kServed));
  desk_.wait(1);
  const auto next = desk_.take_begin();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->comment, "the next");
  EXPECT_TRUE(ask(RunRequest::What::start).starts_with(kServed));
  desk_.begin(2);
  EXPECT_TRUE(ask(RunRequest::What::start).starts_with("run 2 is active"));
}

TEST_F(RunDeskTest, NextRunIsFollowedByNoOther) {
  ASSERT_EQ(ask(RunRequest::What::next_run), "");
  EXPECT_TRUE(ask(RunRequest::What::start).starts_with(kServed));
  ASSERT_TRUE(desk_.take_end() && desk_.take_begin());
  EXPECT_TRUE(ask(RunRequest::What::start).starts_with(kServed));
  desk_.begin(2);
  EXPECT_EQ(ask(RunRequest::What::stop_run), "");
}

}  // namespace
}  // namespace eventloom
