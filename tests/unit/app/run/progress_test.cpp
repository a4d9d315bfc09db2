#include "app/run/progress.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/runtime/log.hpp"

namespace eventloom {
namespace {

/// What is shown of a run of which a snapshot is taken about once a second.
std::vector<std::string> lines_of(ProgressStyle style, int n) {
  std::ostringstream said;
  const auto before = spdlog::default_logger();
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(said);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  spdlog::set_pattern("%v");
  Progress progress(style);
  RunSnapshot snapshot;
  snapshot.condition.state = "running";
  for (int second = 0; second < n; ++second) {
    snapshot.elapsed_s = 1.01 * second;
    progress.show(snapshot);
  }
  spdlog::set_default_logger(before);
  std::vector<std::string> lines;
  std::istringstream in(said.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find(':')));
  return lines;
}

TEST(Progress, ALineEveryFiveSeconds) {
  EXPECT_EQ(lines_of(ProgressStyle::lines, 22),
            (std::vector<std::string>{"after 5 s", "after 10 s", "after 15 s", "after 20 s"}));
}

/// Looks are a little late: lines are not, however long the run.
TEST(Progress, AnHourHasTwelveLinesAMinute) { EXPECT_EQ(lines_of(ProgressStyle::lines, 3600).size(), 726); }

TEST(Progress, NoneIsNone) { EXPECT_TRUE(lines_of(ProgressStyle::none, 100).empty()); }

}  // namespace
}  // namespace eventloom
