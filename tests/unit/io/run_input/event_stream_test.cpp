#include "io/run_input/event_stream.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "io/run_output/merge.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

constexpr std::size_t kLittle = 1;  ///< the least buffers

class EventStreamTest : public FolderTest {
 protected:
  static std::vector<BuiltSlice> slices(bool with_payload) {
    std::vector<BuiltSlice> result;
    for (std::uint64_t i = 0; i < 40; ++i) result.push_back(make_slice(i, 30 + i, with_payload));
    return result;
  }
};

/// All that a stream returns, combined.
WrittenRun read_all(const RunTables& run) {
  WrittenRun read;
  EventStream stream(run, kLittle);
  HitPiece piece;
  std::vector<std::uint32_t> words;
  for (std::uint64_t number = 0; stream.next(); ++number) {
    EXPECT_EQ(stream.number(), number);
    const auto& event = stream.event();
    read.time.push_back(event.time.value);
    read.duration.push_back(event.duration.value);
    read.n_hits.push_back(static_cast<std::uint32_t>(event.n_hits));
    read.slice.push_back(event.slice);
    read.flags.push_back(event.flags);
    read.missing.push_back(event.sources_missing);
    EXPECT_EQ(read_event(run, stream.place(), 0).time, event.time);
    for (stream.read_hits(piece); !piece.time.empty(); stream.read_hits(piece)) {
      for (const auto time : piece.time) read.hit_time.push_back(time.value);
      read.channel.insert(read.channel.end(), piece.channel.begin(), piece.channel.end());
      read.source.insert(read.source.end(), piece.source.begin(), piece.source.end());
      for (const auto n : piece.words) read.first_payload.push_back(read.first_payload.back() + n);
      for (stream.read_words(words); !words.empty(); stream.read_words(words)) {
        read.payload.insert(read.payload.end(), words.begin(), words.end());
      }
    }
    read.first_hit.push_back(read.hit_time.size());
  }
  return read;
}

TEST_F(EventStreamTest, ReturnsAllEventsInOrder) {
  const auto written = slices(true);
  WrittenRun expected;
  for (const auto& slice : written) expected.add(slice);
  const RunShape shapes[] = {
      {.writers = 1}, {.writers = 3, .stride = 7}, {.writers = 4, .segment_bytes = 9000, .compress = 2}};
  for (const auto& shape : shapes) {
    write_run(folder / "run.h5", shape, written);
    merge_run(folder / "run.h5", folder / "merged.h5", {});
    for (const char* file : {"run.h5", "merged.h5"}) {
      const auto read = read_all(open_run_tables(folder / file));
      EXPECT_EQ(read.time, expected.time);
      EXPECT_EQ(read.duration, expected.duration);
      EXPECT_EQ(read.n_hits, expected.n_hits);
      EXPECT_EQ(read.slice, expected.slice);
      EXPECT_EQ(read.flags, expected.flags);
      EXPECT_EQ(read.missing, expected.missing);
      EXPECT_EQ(read.first_hit, expected.first_hit);
      EXPECT_EQ(read.hit_time, expected.hit_time);
      EXPECT_EQ(read.channel, expected.channel);
      EXPECT_EQ(read.source, expected.source);
      EXPECT_EQ(read.first_payload, expected.first_payload);
      EXPECT_EQ(read.payload, expected.payload);
    }
    for (const auto& name : files()) std::filesystem::remove(folder / name);
  }
}

TEST_F(EventStreamTest, HasNoWordsWithoutPayload) {
  write_run(folder / "run.h5", {.writers = 2, .with_payload = false}, slices(false));
  const auto read = read_all(open_run_tables(folder / "run.h5"));
  EXPECT_FALSE(read.hit_time.empty());
  EXPECT_TRUE(read.payload.empty());
  EXPECT_EQ(read.first_payload.back(), 0U);
}

/// A reader that needs only the events reads the other columns, too.
TEST_F(EventStreamTest, FindsDamageOfWhatIsNotAskedFor) {
  write_run(folder / "run.h5", {}, slices(true));
  merge_run(folder / "run.h5", folder / "merged.h5", {});
  const auto offsets = plain::column<std::uint64_t>(folder / "merged.h5", "/hits/first_payload");
  auto falling = offsets;
  std::swap(falling[100], falling[103]);
  auto shifted = plain::column<std::uint64_t>(folder / "merged.h5", "/events/first_hit");
  ++shifted[7];
  auto unordered = plain::column<std::uint64_t>(folder / "merged.h5", "/events/time");
  std::swap(unordered[3], unordered[4]);
  struct Case {
    const char* column;
    std::vector<std::uint64_t> values;
    const char* reason;
  };
  for (const auto& [column, values, reason] : {Case{"/hits/first_payload", falling, "do not rise"},
                                               {"/events/first_hit", shifted, "disagree"},
                                               {"/events/time", unordered, "not in the order of time"}}) {
    const auto file = folder / "damaged.h5";
    std::filesystem::copy_file(folder / "merged.h5", file, std::filesystem::copy_options::overwrite_existing);
    plain::replace_column(file, column, values);
    const auto run = open_run_tables(file);
    EventStream stream(run, kLittle);
    try {
      while (stream.next()) continue;
      ADD_FAILURE() << "no exception for " << column;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace eventloom
