#include "app/observe/progress.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/runtime/log.hpp"

namespace eventloom {
namespace {

/// The lines shown for a run whose snapshots are taken about once a second.
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

/// Snapshots are taken a little late; the lines do not drift, however long the run.
TEST(Progress, AnHourHasTwelveLinesAMinute) { EXPECT_EQ(lines_of(ProgressStyle::lines, 3600).size(), 726); }

RunSnapshot large_run() {
  RunSnapshot snapshot;
  snapshot.condition.state = "running";
  snapshot.elapsed_s = 54;
  snapshot.figures.hits_per_s = 12.3e6;
  snapshot.figures.bytes_per_s = 196.8e6;
  snapshot.figures.ring_fill = 0.37;
  snapshot.figures.share = 0.5;
  snapshot.figures.remaining_s = 54;
  snapshot.totals[Metric::slices] = 123456;
  snapshot.totals[Metric::events] = 345678;
  snapshot.totals[dropped_hits(DropCause::lost)] = 1234;
  return snapshot;
}

TEST(Progress, TheBarFitsTheTerminal) {
  const auto run = large_run();
  EXPECT_EQ(bar_of(run, std::string::npos),
            "[############............] 50.0 %, after 54 s, 12.3 Mhits/s, 197 MB/s, 123456 slices, 345678 events, "
            "1234 hits lost, rings 37 % full, 54 s left");
  EXPECT_EQ(bar_of(run, 79), "50.0 %, 12.3 Mhits/s, 345678 events, 1234 hits lost, rings 37 % full, 54 s left");
  EXPECT_EQ(bar_of(run, 59), "[####....] 50.0 %, 345678 events, 1234 hits lost, 54 s left");
  for (std::size_t columns = 0; columns < 160; ++columns) EXPECT_LE(bar_of(run, columns).size(), columns);
}

TEST(Progress, ANarrowTerminalHasWhatMattersMost) {
  auto run = large_run();
  EXPECT_EQ(bar_of(run, 40), "[##..] 50.0 %, 1234 hits lost, 54 s left");
  run.condition.state = "paused";
  run.figures.share.reset();
  run.figures.remaining_s.reset();
  EXPECT_EQ(bar_of(run, 24), "paused, 1234 hits lost");
}

TEST(Progress, NoneIsNone) { EXPECT_TRUE(lines_of(ProgressStyle::none, 100).empty()); }

}  // namespace
}  // namespace eventloom
