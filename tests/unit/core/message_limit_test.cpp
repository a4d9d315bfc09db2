#include "core/runtime/message_limit.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

TEST(MessageLimit, AdmitsTheFirstMessagesAndCountsAll) {
  MessageLimit limit(2);
  EXPECT_TRUE(limit.admit());
  EXPECT_EQ(limit.at_last("; no more"), "");
  EXPECT_TRUE(limit.admit());
  EXPECT_EQ(limit.at_last("; no more"), "; no more");
  EXPECT_FALSE(limit.exceeded());
  EXPECT_FALSE(limit.admit());
  EXPECT_TRUE(limit.exceeded());
  EXPECT_EQ(limit.count(), 3U);
}

}  // namespace
}  // namespace eventloom
