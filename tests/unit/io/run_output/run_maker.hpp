#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_output/part_writer.hpp"

namespace eventloom {

/// A separate folder for each test, removed afterwards.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             (std::string("eventloom-") + test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
  }
  ~FolderTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  }

  std::filesystem::path folder;
};

/// All columns of a run, in the order in which they were handed to the writers.
struct WrittenRun {
  std::vector<std::uint64_t> time, duration, slice, missing, first_hit{0};
  std::vector<std::uint32_t> n_hits, flags;
  std::vector<std::uint64_t> hit_time, first_payload{0};
  std::vector<std::uint32_t> channel, payload;
  std::vector<std::uint16_t> source;

  void add(const BuiltSlice& built);
};

/// Slice `number` of length 1000 ticks with events at its start, each of 1 to 5 hits with 0 to 2
/// payload words; every third slice is empty.
BuiltSlice make_slice(std::uint64_t number, std::size_t events, bool with_payload);

/// Distributes `slices` to `writers` in turn, `stride` at a time; writes and closes the parts and run.h5.
struct RunShape {
  std::uint32_t writers = 1;
  std::uint64_t stride = 1;
  std::uint64_t segment_bytes = std::uint64_t{1} << 30;
  unsigned compress = 0;
  bool with_payload = true;
};
std::vector<PartInfo> write_run(const std::filesystem::path& run_file, const RunShape& shape,
                                const std::vector<BuiltSlice>& slices);

/// The record of `slices` in run.h5.
RunRecord record_of(const std::vector<BuiltSlice>& slices, bool with_payload);

void expect_tables(const std::filesystem::path& file, const WrittenRun& expected, bool with_payload);

}  // namespace eventloom
