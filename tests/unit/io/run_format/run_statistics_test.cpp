#include "io/run_format/run_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/runtime/error.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/merge.hpp"
#include "io/run_output/run_file_writer.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class RunStatisticsTest : public FolderTest {
 protected:
  [[nodiscard]] std::filesystem::path run() const { return folder / "run.h5"; }
};

RunStatistics full_statistics() {
  RunStatistics statistics;
  statistics.counters = {{0, "slices", "slices", 17}, {0, "message_bytes", "bytes", 1ULL << 40}};
  statistics.of_sources = {{0, "buffers", "buffers", 3}, {2, "first_number", "", 5}};
  statistics.latency = {{10.5, 11, 7}, {11, 11.25, 9}};
  statistics.clocks = {{0, 0, 0, 0, 0, 0}, {-1.5e6, 12.25, 30, 400, 0, 64}};
  statistics.builders = {{0, 1, 250, 750}, {1, 0, 1000, 0}};
  statistics.rates = {{1, 2e6, 3e7, 4e5, std::numeric_limits<double>::quiet_NaN(), 5e6}};
  return statistics;
}

TEST_F(RunStatisticsTest, AreColumns) {
  write_run_file(run(), record_of({}, false), {}, full_statistics());
  using Numbers = std::vector<std::uint64_t>;
  using Doubles = std::vector<double>;
  EXPECT_EQ(plain::column<std::uint64_t>(run(), "/counters/value"), (Numbers{17, 1ULL << 40}));
  EXPECT_EQ(plain::column<std::uint32_t>(run(), "/source_counters/source"), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(plain::column<std::uint64_t>(run(), "/source_counters/value"), (Numbers{3, 5}));
  EXPECT_EQ(plain::column<double>(run(), "/latency/low"), (Doubles{10.5, 11}));
  EXPECT_EQ(plain::column<double>(run(), "/latency/high"), (Doubles{11, 11.25}));
  EXPECT_EQ(plain::column<std::uint64_t>(run(), "/latency/events"), (Numbers{7, 9}));
  EXPECT_EQ(plain::column<double>(run(), "/clocks/offset"), (Doubles{0, -1.5e6}));
  EXPECT_EQ(plain::column<std::uint64_t>(run(), "/builders/busy"), (Numbers{250, 1000}));
  EXPECT_EQ(plain::column<double>(run(), "/rates/hits"), (Doubles{2e6}));
  EXPECT_EQ(plain::attribute(run(), "/clocks/rate", "units"), "ppm");
  EXPECT_EQ(plain::attribute(run(), "/rates/bytes", "units"), "byte/s");
}

TEST_F(RunStatisticsTest, AreReadBack) {
  write_run_file(run(), record_of({}, false), {}, full_statistics());
  const auto read = read_statistics(run());
  ASSERT_EQ(read.counters.size(), 2U);
  EXPECT_EQ(read.counters[1].name, "message_bytes");
  EXPECT_EQ(read.counters[1].unit, "bytes");
  ASSERT_EQ(read.of_sources.size(), 2U);
  EXPECT_EQ(read.of_sources[1].source, 2U);
  EXPECT_EQ(read.of_sources[1].unit, "");
  ASSERT_EQ(read.latency.size(), 2U);
  EXPECT_EQ(read.latency[1].high_ns, 11.25);
  ASSERT_EQ(read.clocks.size(), 2U);
  EXPECT_EQ(read.clocks[1].round_trips, 64U);
  ASSERT_EQ(read.builders.size(), 2U);
  EXPECT_EQ(read.builders[0].idle_ns, 750U);
  ASSERT_EQ(read.rates.size(), 1U);
  EXPECT_TRUE(std::isnan(read.rates[0].latency_p50_ns));
  EXPECT_EQ(read.rates[0].latency_p99_ns, 5e6);
}

TEST_F(RunStatisticsTest, AFileWithoutHasNone) {
  write_run_file(run(), record_of({}, false), {});
  EXPECT_FALSE(plain::has(run(), "/counters"));
  const auto read = read_statistics(run());
  EXPECT_TRUE(read.counters.empty() && read.of_sources.empty() && read.latency.empty());
}

TEST_F(RunStatisticsTest, DamageIsReportedWithTheDataset) {
  for (const char* column : {"/source_counters/source", "/latency/events", "/builders/idle"}) {
    write_run_file(run(), record_of({}, false), {}, full_statistics());
    plain::replace_column(run(), column, {1, 2, 3});
    try {
      read_statistics(run());
      FAIL() << "no exception for " << column;
    } catch (const UserError& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("run.h5"), std::string::npos) << message;
      EXPECT_NE(message.find(std::string(column).substr(0, 5)), std::string::npos) << message;
    }
  }
}

/// Facts about invocations are not copied to the merged file, which depends on the input and the definition alone.
TEST_F(RunStatisticsTest, TheMergedFileDoesNotDependOnThem) {
  const auto slices = {make_slice(3, 5, false), make_slice(4, 5, false)};
  const auto merged = [&](const std::string& name, const RunRecord& about, const RunStatistics& statistics) {
    const auto parts = write_run(folder / "run.h5", {.with_payload = false}, slices);
    auto record = record_of(slices, false);
    record.began = about.began;
    record.ended = about.ended;
    record.command_lines = about.command_lines;
    write_run_file(run(), record, parts, statistics);
    merge_run(run(), folder / name, {});
    std::ifstream file(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  RunRecord about;
  about.began = "2026-11-22T18:31:48Z";
  about.ended = "2026-11-22T19:31:48Z";
  about.command_lines = {"eventloom run a", "eventloom run b"};
  const auto one = merged("one.h5", about, full_statistics());
  EXPECT_EQ(read_run_record(run()).command_lines, about.command_lines);
  EXPECT_TRUE(one == merged("two.h5", {}, {}));
  EXPECT_TRUE(read_run_record(folder / "one.h5").began.empty());
}

}  // namespace
}  // namespace eventloom
