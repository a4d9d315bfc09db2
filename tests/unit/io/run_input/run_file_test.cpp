#include "io/run_input/run_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/runtime/error.hpp"
#include "io/run_output/run_file_writer.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class RunFileTest : public FolderTest {};

RunRecord full_record() {
  RunRecord record;
  record.closed = true;
  record.setup = "source = file:a.epochs\noverlap = 1\n";
  record.definition = "gap:10,2";
  record.filters = {"n_hits>=8", "duration<500ns"};
  record.began = "2026-11-22T18:31:48Z";
  record.ended = "2026-11-22T18:41:48Z";
  record.command_lines = {"eventloom run 'a b.epochs'", "eventloom run 'a b.epochs' --resume"};
  record.folders = {"/data/runs", "/home/a b"};
  record.time_of_tick_0 = "2026-11-22T18:31:40.000000001Z";
  record.eventloom_version = "0.1.0";
  record.eventloom_commit = "0123456789ab";
  record.mpi_version = "Open MPI v4.1.4";
  record.ucx_version = "1.13.1";
  record.hosts = {"node-a", "n2"};
  record.base = {500, 20000};
  record.epochs_per_slice = 16;
  record.overlap = 12345;
  record.with_payload = true;
  record.sources.resize(2);
  record.sources[0].name = "a";
  record.sources[0].uri = "file:a.epochs";
  record.sources[0].input = {"/data/a.epochs", 123456789012U, 0xe3069283U};
  record.sources[0].id = 17;
  record.sources[0].description = "rule of channels";
  record.sources[1].name = "long name";
  record.sources[1].uri = "gen:poisson";
  record.totals[Metric::events] = 2;
  record.totals[Metric::events_truncated] = 3;
  record.totals[Metric::events_incomplete] = 4;
  record.totals[Metric::hits_in] = 50;
  record.totals[Metric::hits_in_events] = 6;
  record.totals[Metric::hits_outside] = 7;
  record.totals[Metric::hits_rejected] = 8;
  record.totals[dropped_hits(DropCause::corrupt)] = 9;
  record.totals[dropped_hits(DropCause::duplicate)] = 10;
  record.totals[dropped_hits(DropCause::out_of_order)] = 10;
  record.totals[Metric::anomalies] = 12;
  return record;
}

TEST_F(RunFileTest, ReadsBackWhatWasWritten) {
  const auto record = full_record();
  write_run_file(folder / "run.h5", record, {});
  const auto read = read_run_file(folder / "run.h5");
  EXPECT_TRUE(read.record.closed);
  EXPECT_EQ(read.record.setup, record.setup);
  EXPECT_EQ(read.record.definition, record.definition);
  EXPECT_EQ(read.record.filters, record.filters);
  EXPECT_EQ(read.record.began, record.began);
  EXPECT_EQ(read.record.ended, record.ended);
  EXPECT_EQ(read.record.command_lines, record.command_lines);
  EXPECT_EQ(read.record.folders, record.folders);
  EXPECT_EQ(read.record.time_of_tick_0, record.time_of_tick_0);
  EXPECT_EQ(read.record.eventloom_commit, record.eventloom_commit);
  EXPECT_EQ(read.record.mpi_version, record.mpi_version);
  EXPECT_EQ(read.record.hosts, record.hosts);
  EXPECT_EQ(read.record.base, record.base);
  EXPECT_EQ(read.record.epochs_per_slice, 16U);
  EXPECT_EQ(read.record.overlap, Tick(12345));
  EXPECT_TRUE(read.record.with_payload);
  EXPECT_EQ(read.record.totals, record.totals);
  ASSERT_EQ(read.record.sources.size(), 2U);
  EXPECT_EQ(read.record.sources[0].input.path, "/data/a.epochs");
  EXPECT_EQ(read.record.sources[0].input.bytes, 123456789012U);
  EXPECT_EQ(read.record.sources[0].input.crc32c, 0xe3069283U);
  EXPECT_EQ(read.record.sources[0].id, 17U);
  EXPECT_EQ(read.record.sources[0].description, "rule of channels");
  EXPECT_EQ(read.record.sources[1].name, "long name");
}

TEST_F(RunFileTest, ReadsColumnsOfManyChunks) {
  auto record = full_record();
  record.sources.resize(300);
  write_run_file(folder / "run.h5", record, {});
  std::vector<std::uint64_t> bytes(300);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = 1'000'000 + i;
  plain::replace_column(folder / "run.h5", "/sources/bytes", bytes);
  const auto read = read_run_file(folder / "run.h5");
  ASSERT_EQ(read.record.sources.size(), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(read.record.sources[i].input.bytes, bytes[i]);
}

TEST_F(RunFileTest, StoresTextsAtVariableLength) {
  write_run_file(folder / "run.h5", full_record(), {});
  EXPECT_EQ(plain::attribute(folder / "run.h5", "/", "format"), "eventloom-run");
  EXPECT_EQ(plain::attribute(folder / "run.h5", "/", "definition"), "gap:10,2");
  EXPECT_EQ(plain::attribute(folder / "run.h5", "/", "hosts"), "node-a|n2");
}

TEST_F(RunFileTest, TakesASetupOfAnyLength) {
  auto record = full_record();
  record.setup.assign(300000, 'x');
  record.filters.clear();
  record.hosts.assign(5000, "a-host-with-a-long-name");
  write_run_file(folder / "run.h5", record, {});
  const auto read = read_run_file(folder / "run.h5").record;
  EXPECT_EQ(read.setup, record.setup);
  EXPECT_EQ(read.filters, record.filters);
  EXPECT_EQ(read.hosts, record.hosts);
}

TEST_F(RunFileTest, ListsParts) {
  const std::vector<BuiltSlice> slices = {make_slice(3, 5, true), make_slice(4, 5, true), make_slice(6, 5, true)};
  const auto parts = write_run(folder / "run.h5", {.writers = 2}, slices);
  const auto read = read_run_file(folder / "run.h5").parts;
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "run.part-0000-0000.h5");
  EXPECT_EQ(read[0].first_slice, 4U);
  EXPECT_EQ(read[0].last_slice, 6U);
  EXPECT_EQ(read[0].slices, 2U);
  EXPECT_EQ(read[1].writer, 1U);
  EXPECT_EQ(read[1].first_slice, 3U);
  EXPECT_EQ(read[1].hits, slices[0].hits.size());
  EXPECT_EQ(plain::column<std::uint64_t>(folder / "run.h5", "/parts/events"), (std::vector<std::uint64_t>{10, 5}));
}

TEST_F(RunFileTest, ListsTheFilesBesideItsParts) {
  auto parts = write_run(folder / "run.h5", {.writers = 2},
                         std::vector<BuiltSlice>{make_slice(3, 5, true), make_slice(4, 2, true)});
  EXPECT_FALSE(plain::has(folder / "run.h5", "/event_files"));
  parts[1].event_files = {{"out_0000.lmd", 0, 4, 100}, {"out_0001.lmd", 1, 1, 70}};
  write_run_file(folder / "run.h5", full_record(), parts);
  EXPECT_EQ(plain::column<std::uint64_t>(folder / "run.h5", "/event_files/part"), (std::vector<std::uint64_t>{1, 1}));
  const auto read = read_run_file(folder / "run.h5").parts;
  EXPECT_TRUE(read.at(0).event_files.empty());
  const auto& files = read.at(1).event_files;
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].name, "out_0001.lmd");
  EXPECT_EQ(files[1].number, 1U);
  EXPECT_EQ(files[1].events, 1U);
  EXPECT_EQ(files[1].bytes, 70U);
}

TEST_F(RunFileTest, RefusesNamesThatAreNoParts) {
  auto parts = write_run(folder / "run.h5", {}, std::vector<BuiltSlice>{make_slice(3, 5, true)});
  std::filesystem::create_directory(folder / "below");
  for (const char* name : {"thesis.txt", "below/run.part-0000-0000.h5", "run.part-0000-0000.h5.partial"}) {
    std::filesystem::rename(folder / parts[0].name, folder / name);
    parts[0].name = name;
    write_run_file(folder / "run.h5", full_record(), parts);
    EXPECT_THROW(read_run_file(folder / "run.h5"), UserError) << name;
  }
}

TEST_F(RunFileTest, ReplacesAnEarlierOneInOneStep) {
  auto record = full_record();
  record.closed = false;
  write_run_file(folder / "run.h5", record, {});
  PartInfo missing;
  missing.name = "run.part-0000-0000.h5";
  missing.slices = 1;
  record.closed = true;
  EXPECT_THROW(write_run_file(folder / "run.h5", record, {&missing, 1}), UserError);
  EXPECT_FALSE(read_run_file(folder / "run.h5").record.closed);
  EXPECT_EQ(files(), std::set<std::string>{"run.h5"});
  write_run_file(folder / "run.h5", record, {});
  EXPECT_TRUE(read_run_file(folder / "run.h5").record.closed);
}

TEST_F(RunFileTest, RefusesTwoPartsWithTheSameSlice) {
  std::vector<PartInfo> parts;
  for (std::uint32_t w = 0; w < 2; ++w) {
    PartWriter writer({.run_file = folder / "run.h5", .writer = w});
    writer.write(make_slice(7, 1, false));
    parts.push_back(writer.close().front());
  }
  EXPECT_THROW(write_run_file(folder / "run.h5", record_of({}, false), parts), UserError);
}

// HDF5 has no checksums for texts.
TEST_F(RunFileTest, DamagedTextIsRefused) {
  const auto path = folder / "run.h5";
  write_run_file(path, full_record(), {});
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto at = bytes.find("overlap = 1");
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file.put('O');
  file.close();
  EXPECT_THROW(read_run_file(path), UserError);
}

}  // namespace
}  // namespace eventloom
