#include "io/run_input/output_reader.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/runtime/error.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_input/verify_columns.hpp"
#include "io/run_output/merge.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

/// HDF5 itself leaks memory when it reads damaged files.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }  // NOLINT

namespace eventloom {
namespace {

class OutputReaderTest : public FolderTest {
 protected:
  void expect_same(const OutputEvent& event, const BuiltSlice& slice, std::size_t i, std::size_t first_hit,
                   std::size_t first_word) {
    EXPECT_EQ(event.time, slice.events.time[i]);
    EXPECT_EQ(event.duration, slice.events.duration[i]);
    EXPECT_EQ(event.slice, slice.ledger.slice);
    EXPECT_EQ(event.flags, slice.events.flags[i]);
    ASSERT_EQ(event.hits.size(), slice.events.n_hits[i]);
    for (const auto& hit : event.hits) {
      EXPECT_EQ(hit.time, slice.hits.time[first_hit]);
      EXPECT_EQ(hit.channel, slice.hits.channel[first_hit]);
      EXPECT_EQ(hit.source, slice.hits.source[first_hit]);
      ASSERT_EQ(hit.payload.size(), slice.hits.payload_words[first_hit++]);
      for (const auto word : hit.payload) EXPECT_EQ(word, slice.hits.payload[first_word++]);
    }
  }
};

TEST_F(OutputReaderTest, ShowsTheFirstEventsOfRunAndMergedFile) {
  const std::vector<BuiltSlice> slices = {make_slice(3, 2, true), make_slice(4, 1, true)};
  write_run(folder / "run.h5", {.writers = 2}, slices);
  merge_run(folder / "run.h5", folder / "merged.h5", {});
  for (const char* file : {"run.h5", "merged.h5"}) {
    const auto events = read_events(folder / file, 100);
    ASSERT_EQ(events.size(), 3U);
    const std::size_t second = slices[0].events.n_hits[0];
    std::size_t words = 0;
    for (std::size_t i = 0; i < second; ++i) words += slices[0].hits.payload_words[i];
    expect_same(events[0], slices[0], 0, 0, 0);
    expect_same(events[1], slices[0], 1, second, words);
    expect_same(events[2], slices[1], 0, 0, 0);
    EXPECT_EQ(read_events(folder / file, 1).size(), 1U);
  }
}

TEST_F(OutputReaderTest, FindsNothingWrongWithAWholeRun) {
  const std::vector<BuiltSlice> slices = {make_slice(3, 20, true), make_slice(4, 10, true)};
  const auto parts = write_run(folder / "run.h5", {.writers = 2}, slices);
  merge_run(folder / "run.h5", folder / "merged.h5", {});
  const auto hits = slices[0].hits.size() + slices[1].hits.size();
  for (const std::string& file : {std::string("run.h5"), std::string("merged.h5"), parts[0].name}) {
    const auto summary = read_output(folder / file);
    EXPECT_TRUE(summary.problems.empty()) << file << ": " << summary.problems.front();
    if (file == parts[0].name) continue;
    EXPECT_EQ(summary.events, 30U);
    EXPECT_EQ(summary.hits, hits);
    EXPECT_EQ(summary.ledger[Metric::slices], 2U);
    EXPECT_EQ(summary.ledger[Metric::hits_outside], 3U + 4U);
    EXPECT_EQ(summary.sources.size(), 3U);
  }
}

TEST_F(OutputReaderTest, NamesWhatDoesNotAgree) {
  auto slice = make_slice(3, 20, true);
  slice.ledger.hits_in += 1;
  const auto parts = write_run(folder / "run.h5", {}, {slice});
  auto problems = read_output(folder / "run.h5").problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0], "1 rows of the ledger do not balance");
  EXPECT_NE(problems[1].find("/ledger does not balance in slice 3"), std::string::npos) << problems[1];
  std::filesystem::remove(folder / parts[0].name);
  problems = read_output(folder / "run.h5").problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[1].find(parts[0].name), std::string::npos);
}

TEST_F(OutputReaderTest, ColumnsThatAreTooShortAreDamage) {
  const auto merged = folder / "merged.h5";
  write_run(folder / "run.h5", {}, {make_slice(3, 20, true), make_slice(4, 10, true)});
  for (const std::string column :
       {"/events/duration", "/hits/time", "/ledger/hits_in", "/events/first_hit", "/hits/first_payload"}) {
    std::filesystem::remove(merged);
    merge_run(folder / "run.h5", merged, {});
    EXPECT_NO_THROW(verify_columns(merged));
    plain::replace_column(merged, column, {1});
    EXPECT_THROW(verify_columns(merged), UserError) << column;
  }
  merge_run(folder / "run.h5", folder / "second.h5", {});
  plain::replace_column(folder / "second.h5", "/events/duration", {1});
  EXPECT_THROW(read_events(folder / "second.h5", 100), UserError);
}

TEST_F(OutputReaderTest, NoDamagedByteCrashesIt) {
  const auto parts = write_run(folder / "run.h5", {}, {make_slice(3, 3, true)});
  std::string whole;
  {
    std::ifstream in(folder / "run.h5", std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    std::ofstream(folder / "run.h5", std::ios::binary) << bytes;
    try {
      read_output(folder / "run.h5");
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST_F(OutputReaderTest, RefusesForeignFiles) {
  std::ofstream(folder / "text.h5") << "not HDF5";
  EXPECT_FALSE(is_hdf5(folder / "text.h5"));
  EXPECT_THROW(read_output(folder / "text.h5"), UserError);
}

}  // namespace
}  // namespace eventloom
