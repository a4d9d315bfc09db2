#include "io/run_output/merge.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "io/run_output/run_file_writer.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class MergeTest : public FolderTest {
 protected:
  /// Runs that differ only in how their slices are distributed over parts.
  static std::vector<BuiltSlice> slices(bool with_payload) {
    std::vector<BuiltSlice> result;
    for (std::uint64_t i = 0; i < 60; ++i) {
      if (i % 11 != 10) result.push_back(make_slice(i, 40 + i, with_payload));
    }
    return result;
  }
  void expect_refused(const std::string& reason) {
    try {
      merge_run(folder / "run.h5", folder / "merged.h5", {});
      FAIL() << "no exception; expected: " << reason;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
    }
    EXPECT_FALSE(files().contains("merged.h5"));
    EXPECT_FALSE(files().contains("merged.h5.partial"));
  }
};

TEST_F(MergeTest, DoesNotDependOnHowEventsWereSpreadOverParts) {
  const auto written = slices(true);
  WrittenRun expected;
  for (const auto& slice : written) expected.add(slice);
  const RunShape shapes[] = {{.writers = 1},
                             {.writers = 2},
                             {.writers = 3, .stride = 7},
                             {.writers = 3, .segment_bytes = 9000},
                             {.writers = 70},
                             {.writers = 2, .segment_bytes = 30000, .compress = 4}};
  int number = 0;
  for (const auto& shape : shapes) {
    const auto run = folder / ("run" + std::to_string(++number) + ".h5");
    write_run(run, shape, written);
    const auto result = merge_run(run, folder / "merged.h5", {.compress = shape.compress});
    EXPECT_EQ(result.events, expected.time.size());
    EXPECT_EQ(result.hits, expected.hit_time.size());
    expect_tables(folder / "merged.h5", expected, true);

    std::vector<std::uint64_t> ledger_slices;
    std::vector<std::uint64_t> hits_in;
    for (const auto& slice : written) {
      ledger_slices.push_back(slice.ledger.slice);
      hits_in.push_back(slice.ledger.hits_in);
    }
    for (const auto& file : {run, folder / "merged.h5"}) {
      EXPECT_EQ(plain::column<std::uint64_t>(file, "/ledger/slice"), ledger_slices);
      EXPECT_EQ(plain::column<std::uint64_t>(file, "/ledger/hits_in"), hits_in);
    }
  }
}

TEST_F(MergeTest, WorksWithoutPayload) {
  const auto written = slices(false);
  WrittenRun expected;
  for (const auto& slice : written) expected.add(slice);
  write_run(folder / "run.h5", {.writers = 3, .with_payload = false}, written);
  merge_run(folder / "run.h5", folder / "merged.h5", {});
  expect_tables(folder / "merged.h5", expected, false);
}

TEST_F(MergeTest, EmptyRunGivesDatasetsOfLengthZero) {
  write_run(folder / "run.h5", {.writers = 2}, {});
  EXPECT_EQ(merge_run(folder / "run.h5", folder / "merged.h5", {}).events, 0U);
  expect_tables(folder / "merged.h5", WrittenRun{}, true);
  EXPECT_EQ(plain::attribute(folder / "merged.h5", "/", "format"), "eventloom-merged");
}

TEST_F(MergeTest, KeepsTheListOfMissingSources) {
  std::vector<PartInfo> parts;
  RunRecord record = record_of({}, false);
  for (std::uint32_t w = 0; w < 2; ++w) {
    PartWriter writer({.run_file = folder / "run.h5", .writer = w, .n_sources = 80});
    for (std::uint64_t i = w; i < 4; i += 2) {
      auto slice = make_slice(i, 1, false);
      record.totals.add(slice);
      slice.sources_missing.assign(i, static_cast<std::uint32_t>(70 + i));
      writer.write(slice);
    }
    for (auto& part : writer.close()) parts.push_back(part);
  }
  record.sources.resize(80);
  write_run_file(folder / "run.h5", record, parts);
  merge_run(folder / "run.h5", folder / "merged.h5", {});
  for (const char* file : {"run.h5", "merged.h5"}) {
    EXPECT_EQ(plain::column<std::uint64_t>(folder / file, "/ledger/sources_missing_offsets"),
              (std::vector<std::uint64_t>{0, 0, 1, 3, 6}));
    EXPECT_EQ(plain::column<std::uint32_t>(folder / file, "/ledger/sources_missing_list"),
              (std::vector<std::uint32_t>{71, 72, 72, 73, 73, 73}));
  }
}

TEST_F(MergeTest, RefusesAMissingPart) {
  const auto parts = write_run(folder / "run.h5", {.writers = 2}, slices(true));
  std::filesystem::remove(folder / parts[1].name);
  expect_refused(parts[1].name);
}

TEST_F(MergeTest, RefusesAPartThatIsNotAsListed) {
  auto parts = write_run(folder / "run.h5", {.writers = 2}, slices(true));
  std::filesystem::copy_file(folder / parts[0].name, folder / parts[1].name,
                             std::filesystem::copy_options::overwrite_existing);
  expect_refused("is not as its run lists it");
}

TEST_F(MergeTest, RefusesADamagedPart) {
  auto parts = write_run(folder / "run.h5", {}, slices(true));
  std::filesystem::resize_file(folder / parts[0].name, parts[0].bytes / 2);
  expect_refused(parts[0].name);
}

TEST_F(MergeTest, RefusesAnOpenRun) {
  auto record = record_of({}, false);
  record.closed = false;
  write_run_file(folder / "run.h5", record, {});
  expect_refused("interrupted");
}

TEST_F(MergeTest, RefusesWhatIsNotARun) {
  auto parts = write_run(folder / "other.h5", {}, slices(true));
  std::filesystem::rename(folder / parts[0].name, folder / "run.h5");
  expect_refused("not the run file");
}

}  // namespace
}  // namespace eventloom
