#include "core/runtime/failure.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/unreachable_rank.hpp"

namespace eventloom {

namespace {

template <class Error>
Failure failure_of(const Error& error) {
  return Failure::of(std::make_exception_ptr(error));
}

}  // namespace

TEST(FailureTest, DistinguishesTheUsersErrorsFromThoseOfTheProgram) {
  EXPECT_EQ(failure_of(UserError("no such source")).code, kExitUsage);
  EXPECT_EQ(failure_of(UserError("no such source")).text, "no such source");
  const auto denied = failure_of(
      std::filesystem::filesystem_error("status", "out/run.h5", std::make_error_code(std::errc::permission_denied)));
  EXPECT_EQ(denied.code, kExitUsage);
  EXPECT_EQ(denied.text, "cannot reach 'out/run.h5': Permission denied");
  EXPECT_EQ(failure_of(std::logic_error("rows")).code, kExitProgram);
  EXPECT_EQ(failure_of(42).code, kExitProgram);
}

TEST(FailureTest, ALostRankThatIsReportedStopsTheProgram) {
  auto lost = UnreachableRank(1, "MPI_Put: an error");
  lost.set_reported();
  const auto failure = failure_of(lost);
  EXPECT_EQ(failure.code, kExitStopped);
  EXPECT_EQ(failure.text, "rank 1 cannot be reached: MPI_Put: an error");
  EXPECT_TRUE(failure.reported);
  auto any = UnreachableRank(kAnyRank, "an error");
  any.set_reported();
  EXPECT_EQ(failure_of(any).text, "another rank cannot be reached: an error");
}

TEST(FailureTest, AFailedCallWithoutALostRankIsAnErrorOfTheProgram) {
  const auto failure = failure_of(UnreachableRank(1, "MPI_Put: an error"));
  EXPECT_EQ(failure.code, kExitProgram);
  EXPECT_EQ(failure.text, "MPI_Put: an error");
  EXPECT_FALSE(failure.reported);
}

TEST(FailureTest, AShortageOfMemorySaysWhatWasDone) {
  try {
    const Activity outer("opening the sources");
    const Activity inner("reading an index");
    throw std::bad_alloc();
  } catch (...) {
    const auto failure = Failure::of(std::current_exception());
    EXPECT_EQ(failure.code, kExitProgram);
    EXPECT_TRUE(failure.no_memory);
    EXPECT_NE(failure.text.find("no memory is left (reading an index): the process has had "), std::string::npos)
        << failure.text;
  }
}

TEST(ExitCodes, AllRanksLeaveWithTheGravest) {
  EXPECT_EQ(agreed_code({}), kExitOk);
  EXPECT_EQ(agreed_code({kExitOk, kExitOk}), kExitOk);
  EXPECT_EQ(agreed_code({kExitOk, kExitLosses}), kExitLosses);
  EXPECT_EQ(agreed_code({kExitLosses, kExitStopped, kExitOk}), kExitStopped);
  EXPECT_EQ(agreed_code({kExitStopped, kExitUsage}), kExitUsage);
  EXPECT_EQ(agreed_code({kExitUsage, kExitProgram}), kExitProgram) << "their bitwise OR is that of losses";
  EXPECT_EQ(agreed_code({kExitOk, 11}), kExitProgram) << "a code that is not of the program";
}

TEST(ExitCodes, ThatOfARankThatLeavesAloneStaysAFailureWhenCombined) {
  constexpr int kKilled = 9;
  constexpr int kTerminated = 15;
  for (const int code : {kExitProgram, static_cast<int>(kExitUsage), static_cast<int>(kExitStopped)}) {
    for (const int others : {0, kKilled, kTerminated, static_cast<int>(kExitStopped)}) {
      const auto both = static_cast<unsigned>(code_to_combine(code)) | static_cast<unsigned>(others);
      EXPECT_TRUE(both != kExitOk && both != kExitUsage && both != kExitLosses) << code << " with " << others;
    }
  }
}

TEST(FailureTest, AThreadThatCannotBeStartedIsAShortage) {
  const auto failure = failure_of(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
  EXPECT_TRUE(failure.no_memory);
  EXPECT_NE(failure.text.find("cannot start a thread"), std::string::npos) << failure.text;
  EXPECT_FALSE(failure_of(std::system_error(std::make_error_code(std::errc::io_error))).no_memory);
}

}  // namespace eventloom
