#include "app/command/schedule_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/runtime/error.hpp"
#include "tests/support/rank_threads.hpp"

namespace eventloom {
namespace {

std::string refusal(const std::string& schedule, const Collective& ranks) {
  try {
    schedule_table_text(schedule, ranks);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(ScheduleTableText, RankZeroAloneReadsTheFile) {
  const auto file = testing::TempDir() + "schedule_table_test.csv";
  std::ofstream(file) << "0,0,0,0\n";
  run_as_ranks(3, [&](const Collective& ranks) {
    const auto there = ranks.rank() == 0 ? "table:" + file : "table:/nowhere/t";
    EXPECT_EQ(schedule_table_text(there, ranks), "0,0,0,0\n");
    EXPECT_EQ(schedule_table_text("chaotic", ranks), "");
  });
  std::filesystem::remove(file);
}

TEST(ScheduleTableText, AllRanksHaveTheSameError) {
  run_as_ranks(3, [](const Collective& ranks) {
    EXPECT_EQ(refusal("table:/nowhere/t", ranks), "--schedule: cannot open '/nowhere/t': No such file or directory");
  });
}

}  // namespace
}  // namespace eventloom
