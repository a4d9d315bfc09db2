#include "io/run_output/part_writer.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "file_size_limit.hpp"
#include "io/files/folder.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/run_output/disk_reserve.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

using U16 = std::vector<std::uint16_t>;
using U32 = std::vector<std::uint32_t>;
using U64 = std::vector<std::uint64_t>;

class PartWriterTest : public FolderTest {
 protected:
  PartWriterSettings settings(bool with_payload) {
    return {.run_file = folder / "run.h5", .n_sources = 3, .with_payload = with_payload};
  }
};

/// A folder with 4 MiB of memory mounted on it.
struct SmallDisk {
  explicit SmallDisk(const std::filesystem::path& at)
      : folder(at), mounted(::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=4m") == 0) {}
  ~SmallDisk() {
    if (mounted) ::umount(folder.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::filesystem::path folder;
  bool mounted;
};

/// Two events: hits (100, 0x41, 0), (103, 0x42, 2) with payload {7, 8}; then (250, 0x43, 1).
BuiltSlice two_events() {
  BuiltSlice slice;
  slice.ledger = {.slice = 4, .hits_in = 9, .hits_in_events = 3, .hits_outside = 1, .hits_rejected = 2, .builder = 6};
  slice.ledger.hits_dropped = {3, 0, 0};
  slice.events.time = {100, 250};
  slice.events.duration = {3, 0};
  slice.events.n_hits = {2, 1};
  slice.events.flags = {0, kIncomplete};
  slice.events.sources_missing = {0, 4};
  slice.events.hits_in_slice = {2, 1};
  slice.events.owned = {1, 1};
  slice.hits.time = {100, 103, 250};
  slice.hits.channel = {0x41, 0x42, 0x43};
  slice.hits.source = {0, 2, 1};
  slice.hits.payload_words = {0, 2, 0};
  slice.hits.payload = {7, 8};
  slice.sources_missing = {2};
  return slice;
}

TEST_F(PartWriterTest, WritesTheDatasetsOfTheContract) {
  PartWriter writer(settings(true));
  writer.write(two_events());
  const auto parts = writer.close();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "run.part-0000-0000.h5");
  EXPECT_EQ(files(), std::set<std::string>{"run.part-0000-0000.h5"});

  const auto part = folder / parts[0].name;
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/events/time"), (U64{100, 250}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/events/duration"), (U64{3, 0}));
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/events/n_hits"), (U32{2, 1}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/events/slice"), (U64{4, 4}));
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/events/flags"), (U32{0, 2}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/events/sources_missing"), (U64{0, 4}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/events/first_hit"), (U64{0, 2, 3}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/hits/time"), (U64{100, 103, 250}));
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/hits/channel"), (U32{0x41, 0x42, 0x43}));
  EXPECT_EQ(plain::column<std::uint16_t>(part, "/hits/source"), (U16{0, 2, 1}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/hits/first_payload"), (U64{0, 0, 2, 2}));
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/payload"), (U32{7, 8}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/slice"), U64{4});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_in"), U64{9});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_in_events"), U64{3});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_outside"), U64{1});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_rejected"), U64{2});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_dropped_corrupt"), U64{3});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_dropped_duplicate"), U64{0});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/hits_dropped_out_of_order"), U64{0});
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/sources_missing"), U64{4});
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/ledger/builder"), U32{6});
  EXPECT_FALSE(plain::has(part, "/ledger/sources_missing_list"));
}

TEST_F(PartWriterTest, NamesTheUnitOfTimes) {
  auto about = settings(false);
  about.base.tick_ps = 250;
  PartWriter(about).close();
  const auto part = folder / "run.part-0000-0000.h5";
  EXPECT_EQ(plain::attribute(part, "/events/time", "units"), "250 ps");
  EXPECT_EQ(plain::attribute(part, "/events/duration", "units"), "250 ps");
  EXPECT_EQ(plain::attribute(part, "/hits/time", "units"), "250 ps");
}

TEST_F(PartWriterTest, LeavesPayloadOutOfRunsWithoutAny) {
  PartWriter writer(settings(false));
  auto slice = two_events();
  slice.hits.payload_words.clear();
  slice.hits.payload.clear();
  writer.write(slice);
  WrittenRun expected;
  expected.add(slice);
  expect_tables(folder / writer.close()[0].name, expected, false);
}

TEST_F(PartWriterTest, EmptyPartHasDatasetsOfLengthZero) {
  PartWriter writer(settings(true));
  const auto parts = writer.close();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].slices, 0U);
  expect_tables(folder / parts[0].name, WrittenRun{}, true);
  EXPECT_EQ(plain::column<std::uint64_t>(folder / parts[0].name, "/ledger/slice"), U64{});
}

TEST_F(PartWriterTest, ListsMissingSourcesThatDoNotFitTheMask) {
  auto about = settings(false);
  about.n_sources = 70;
  PartWriter writer(about);
  auto slice = make_slice(0, 2, false);
  slice.sources_missing = {1, 62, 63, 69};
  writer.write(slice);
  slice = make_slice(1, 2, false);
  slice.sources_missing = {};
  writer.write(slice);
  slice = make_slice(5, 2, false);
  slice.sources_missing = {65};
  writer.write(slice);
  const auto part = folder / writer.close()[0].name;
  EXPECT_EQ(plain::column<std::uint32_t>(part, "/ledger/sources_missing_list"), (U32{1, 62, 63, 69, 65}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/sources_missing_offsets"), (U64{0, 4, 4, 5}));
  EXPECT_EQ(plain::column<std::uint64_t>(part, "/ledger/sources_missing"),
            (U64{0xc000000000000002U, 0, 0x8000000000000000U}));
}

TEST_F(PartWriterTest, StartsANewPartWhenOneIsFull) {
  auto about = settings(true);
  about.writer = 12;
  about.segment_bytes = 20000;
  about.chunk_bytes = 1024;
  PartWriter writer(about);
  std::vector<BuiltSlice> slices;
  for (std::uint64_t i = 0; i < 30; ++i) writer.write(slices.emplace_back(make_slice(i, 50, true)));
  const auto parts = writer.close();
  ASSERT_GT(parts.size(), 2U);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].name, "run.part-0012-000" + std::to_string(i) + ".h5");
    EXPECT_EQ(parts[i].segment, i);
    EXPECT_EQ(parts[i].first_slice, i == 0 ? 0 : parts[i - 1].last_slice + 1);
    WrittenRun expected;
    for (auto n = parts[i].first_slice; n <= parts[i].last_slice; ++n) expected.add(slices[n]);
    expect_tables(folder / parts[i].name, expected, true);
    EXPECT_EQ(parts[i].events, expected.time.size());
    EXPECT_EQ(parts[i].hits, expected.hit_time.size());
    EXPECT_EQ(parts[i].bytes, std::filesystem::file_size(folder / parts[i].name));
  }
  EXPECT_EQ(parts.back().last_slice, 29U);
}

TEST_F(PartWriterTest, EndsAPartWhenAsked) {
  PartWriter writer(settings(true));
  writer.end_part();
  EXPECT_EQ(writer.finished().size(), 0U) << "it has no slice";
  writer.write(make_slice(1, 5, true));
  writer.write(make_slice(2, 5, true));
  writer.end_part();
  writer.end_part();
  EXPECT_EQ(writer.finished().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(folder / "run.part-0000-0000.h5")) << "before the run has ended";
  writer.write(make_slice(5, 5, true));
  const auto parts = writer.close();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].last_slice, 2U);
  EXPECT_EQ(parts[1].first_slice, 5U);
}

TEST_F(PartWriterTest, CompressedColumnsHoldTheSame) {
  for (const unsigned level : {0U, 1U, 6U}) {
    auto about = settings(true);
    about.writer = level;
    about.compress = level;
    about.chunk_bytes = 2048;
    PartWriter writer(about);
    WrittenRun expected;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto slice = make_slice(i, 100, true);
      writer.write(slice);
      expected.add(slice);
    }
    const auto part = folder / writer.close()[0].name;
    expect_tables(part, expected, true);
    EXPECT_EQ(plain::storage(part, "/hits/time").chunk_rows, 255U) << "with room for the checksum";
    EXPECT_EQ(plain::storage(part, "/hits/time").filters, level == 0 ? 1 : 3);
  }
}

TEST_F(PartWriterTest, LeavesNothingWhenDestroyedBeforeClose) {
  {
    PartWriter writer(settings(false));
    writer.write(make_slice(0, 100, false));
    EXPECT_EQ(files(), std::set<std::string>{"run.part-0000-0000.h5.partial"});
  }
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(PartWriterTest, RefusesAFolderThatIsNotThere) {
  auto about = settings(false);
  about.run_file = folder / "nowhere" / "run.h5";
  try {
    const PartWriter writer(about);
    FAIL() << "no exception";
  } catch (const UserError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("nowhere/run.part-0000-0000.h5"), std::string::npos) << text;
    EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;
  }
}

TEST_F(PartWriterTest, AFileThatMayNotGrowIsAUserErrorAndLeavesNoPart) {
  const FileSizeLimit limit(300000);
  std::string reason;
  try {
    PartWriter writer(settings(false));
    for (std::uint64_t i = 0; i < 300; ++i) writer.write(make_slice(i, 200, false));
    writer.close();
  } catch (const UserError& e) {
    reason = e.what();
  }
  EXPECT_NE(reason.find("File too large"), std::string::npos) << reason;
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(PartWriterTest, FullDiskIsAUserErrorAndLeavesNoPart) {
  const SmallDisk disk(folder);
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount";
  for (const std::size_t chunk : {std::size_t{4096}, std::size_t{1} << 20}) {
    auto about = settings(false);
    about.chunk_bytes = chunk;
    std::string reason;
    try {
      PartWriter writer(about);
      for (std::uint64_t i = 0; i < 3000; ++i) writer.write(make_slice(i, 200, false));
      writer.close();
    } catch (const UserError& e) {
      reason = e.what();
    }
    EXPECT_NE(reason.find("No space left on device"), std::string::npos) << reason;
    EXPECT_NE(reason.find("run.part-0000-0000.h5"), std::string::npos) << reason;
    EXPECT_EQ(files(), std::set<std::string>{});
  }
}

std::vector<std::uint64_t> slices_in(const std::filesystem::path& part) {
  return plain::column<std::uint64_t>(part, "/ledger/slice");
}

TEST_F(PartWriterTest, APartEndsWithTheSliceInWhichItIsTooOld) {
  auto about = settings(false);
  about.segment_time = std::chrono::nanoseconds(0);
  PartWriter writer(about);
  for (const std::uint64_t slice : {2U, 5U, 6U}) writer.write(make_slice(slice, 3, false));
  const auto parts = writer.close();
  ASSERT_EQ(parts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(slices_in(folder / parts[i].name), U64{parts[i].first_slice});
}

TEST_F(PartWriterTest, ListsFinishedPartsAsTheyAreFinished) {
  auto about = settings(true);
  about.writer = 5;
  about.segment_bytes = 1;
  about.list = PartListPlace{};
  std::vector<FinishedPart> finished;
  {
    PartWriter writer(about);
    for (std::uint64_t i = 0; i < 4; ++i) writer.write(make_slice(3 * i, 10 * i, true));
    finished = writer.finished();
    writer.write(make_slice(100, 1, true));
    EXPECT_EQ(writer.close().size(), 5U);
  }
  ASSERT_EQ(finished.size(), 4U);
  const auto list = read_part_list(folder / "run.part-0005.list");
  ASSERT_EQ(list.parts.size(), 5U);
  EXPECT_EQ(list.torn_bytes, 0U);
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const auto& part = list.parts[i];
    EXPECT_EQ(part.info.name, finished[i].info.name);
    EXPECT_EQ(part.info.bytes, std::filesystem::file_size(folder / part.info.name));
    EXPECT_EQ(part.slices, (std::vector<SliceRun>{{3 * i, 1, 1}}));
    EXPECT_EQ(part.totals, finished[i].totals);
    RunTotals expected;
    expected.add(make_slice(3 * i, 10 * i, true));
    EXPECT_EQ(part.totals, expected);
  }
}

CompanionSettings lmd_files(const std::filesystem::path& folder, std::uint64_t most_bytes) {
  const EventTarget target{.hld = false, .folder = folder, .stem = "out", .most_bytes = most_bytes, .run = {}};
  return {{{target, 0}}, {{"", "", ""}, 1000, false, {}, 0}};
}

/// The files beside a part are named with it.
TEST_F(PartWriterTest, FilesBesideAPartEndWithIt) {
  auto about = settings(true);
  about.list = PartListPlace{};
  about.companions = lmd_files(folder, 0);
  PartWriter writer(about);
  writer.write(make_slice(1, 5, true));
  EXPECT_EQ(files(),
            (std::set<std::string>{"run.part-0000.list", "run.part-0000-0000.h5.partial", "out_0000.lmd.partial"}));
  writer.end_part();
  writer.write(make_slice(2, 7, true));
  const auto parts = writer.close();
  EXPECT_EQ(files(), (std::set<std::string>{"run.part-0000.list", "run.part-0000-0000.h5", "out_0000.lmd",
                                            "run.part-0000-0001.h5", "out_0001.lmd"}));
  const auto list = read_part_list(folder / "run.part-0000.list");
  ASSERT_EQ(list.parts.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& listed = list.parts[i].info.event_files;
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0].name, "out_000" + std::to_string(i) + ".lmd");
    EXPECT_EQ(listed[0].number, i);
    EXPECT_EQ(listed[0].events, parts[i].events);
    EXPECT_EQ(listed[0].bytes, std::filesystem::file_size(folder / listed[0].name));
  }
}

TEST_F(PartWriterTest, APartEndsBeforeASliceForWhichAFileBesideItHasNoRoom) {
  auto about = settings(true);
  about.companions = lmd_files(folder, 2000);
  PartWriter writer(about);
  for (std::uint64_t i = 0; i < 20; ++i) writer.write(make_slice(3 * i + 1, 4, true));
  const auto parts = writer.close();
  EXPECT_GT(parts.size(), 3U);
  for (const auto& part : parts) {
    ASSERT_EQ(part.event_files.size(), 1U);
    EXPECT_EQ(part.event_files[0].events, part.events);
    EXPECT_LE(part.event_files[0].bytes, 2000U);
  }
}

TEST_F(PartWriterTest, NothingIsLeftBesideAPartThatIsGivenUp) {
  auto about = settings(true);
  about.companions = lmd_files(folder, 0);
  {
    PartWriter writer(about);
    writer.write(make_slice(1, 5, true));
  }
  EXPECT_EQ(files(), std::set<std::string>{});
  about.first_segment = 3;
  PartWriter without_slices(about);
  without_slices.close();
  EXPECT_EQ(files(), std::set<std::string>{});
}

/// The part and its list wait for the disk; no part is listed unless its file exists.
TEST_F(PartWriterTest, APartIsNotListedWithoutTheFilesBesideIt) {
  auto about = settings(true);
  about.list = PartListPlace{};
  about.companions = lmd_files(folder, 0);
  std::filesystem::create_directory(folder / "lmd");
  const SmallDisk disk(folder / "lmd");
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount";
  about.companions.outputs.front().target.folder = folder / "lmd";
  PartWriter writer(about);
  EXPECT_THROW(
      {
        for (std::uint64_t i = 0; i < 3000; ++i) writer.write(make_slice(3 * i + 1, 200, true));
        writer.close();
      },
      UserError);
  EXPECT_TRUE(writer.finished().empty());
  EXPECT_TRUE(read_part_list(folder / "run.part-0000.list").parts.empty());
}

TEST_F(PartWriterTest, KeepsNoListWithoutAPlaceForIt) {
  PartWriter writer(settings(false));
  writer.write(make_slice(0, 3, false));
  writer.close();
  EXPECT_EQ(files(), std::set<std::string>{"run.part-0000-0000.h5"});
}

TEST_F(PartWriterTest, AWriterThatContinuesLeavesNoEmptyPart) {
  auto about = settings(false);
  about.first_segment = 7;
  EXPECT_TRUE(PartWriter(about).close().empty());
  EXPECT_EQ(files(), std::set<std::string>{});
  PartWriter writer(about);
  writer.write(make_slice(0, 3, false));
  const auto parts = writer.close();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].segment, 7U);
  EXPECT_EQ(files(), std::set<std::string>{"run.part-0000-0007.h5"});
}

/// This holds while the last part is on its way to the disk, too: that one is finished.
TEST_F(PartWriterTest, DestroyedBeforeCloseKeepsWhatIsFinished) {
  {
    auto about = settings(false);
    about.segment_bytes = 3000;
    about.list = PartListPlace{};
    PartWriter writer(about);
    writer.write(make_slice(1, 100, false));
    writer.write(make_slice(2, 1, false));
  }
  EXPECT_EQ(files(), (std::set<std::string>{"run.part-0000-0000.h5", "run.part-0000.list"}));
  EXPECT_EQ(slices_in(folder / "run.part-0000-0000.h5"), U64{1});
  EXPECT_EQ(read_part_list(folder / "run.part-0000.list").parts.size(), 1U);
}

TEST_F(PartWriterTest, PartsComeFromTheScratchFolderWhole) {
  const auto scratch = folder / "scratch";
  std::filesystem::create_directory(scratch);
  auto about = settings(true);
  about.scratch = scratch;
  about.segment_bytes = 2000;
  about.list = PartListPlace{};
  std::vector<BuiltSlice> slices;
  std::vector<PartInfo> parts;
  {
    PartWriter writer(about);
    for (std::uint64_t i = 0; i < 6; ++i) {
      writer.write(slices.emplace_back(make_slice(i, 20, true)));
      for (const auto& part : writer.finished()) EXPECT_TRUE(std::filesystem::exists(folder / part.info.name));
    }
    parts = writer.close();
  }
  ASSERT_GT(parts.size(), 1U);
  for (const auto& part : parts) {
    WrittenRun expected;
    for (auto n = part.first_slice; n <= part.last_slice; ++n) expected.add(slices[n]);
    expect_tables(folder / part.name, expected, true);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch));
  for (const auto& name : files()) EXPECT_EQ(name.find("partial"), std::string::npos) << name;
}

TEST_F(PartWriterTest, AScratchFolderThatIsNotThereIsAUserError) {
  auto about = settings(false);
  about.scratch = folder / "nowhere";
  EXPECT_THROW(PartWriter{about}, UserError);
  EXPECT_EQ(files(), std::set<std::string>{});
}

/// The disk accepts the first parts and then no more, which shows while a part is on its way there.
TEST_F(PartWriterTest, WhatIsFinishedStaysWhenALaterPartFails) {
  const SmallDisk disk(folder);
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount";
  auto about = settings(false);
  about.list = PartListPlace{};
  about.segment_bytes = std::uint64_t{1} << 20;
  std::string reason;
  std::vector<FinishedPart> finished;
  {
    PartWriter writer(about);
    try {
      for (std::uint64_t i = 0; i < 3000; ++i) writer.write(make_slice(i, 200, false));
      writer.close();
    } catch (const UserError& e) {
      reason = e.what();
    }
    finished = writer.finished();
    EXPECT_THROW(writer.write(make_slice(9999, 1, false)), std::logic_error);
    EXPECT_THROW(writer.close(), std::logic_error);
  }
  EXPECT_NE(reason.find("No space left on device"), std::string::npos) << reason;
  ASSERT_GT(finished.size(), 1U);
  std::set<std::string> expected{"run.part-0000.list"};
  for (const auto& part : finished) {
    expected.insert(part.info.name);
    EXPECT_EQ(slices_in(folder / part.info.name).size(), part.info.slices);
  }
  EXPECT_EQ(files(), expected);
  EXPECT_EQ(read_part_list(folder / "run.part-0000.list").parts.size(), finished.size());
}

/// No slice is lost or doubled, and the list has all parts.
TEST_F(PartWriterTest, PartsGoOnInTheNextFolderWhenTheDiskIsFull) {
  const auto next = folder_within(folder / "next", folder / "disk");
  std::filesystem::create_directories(folder / "disk");
  std::filesystem::create_directories(next);
  const SmallDisk disk(folder / "disk");
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount";
  auto about = settings(false);
  about.run_file = disk.folder / "run.h5";
  about.next = next;
  about.list = PartListPlace{};
  about.segment_bytes = std::uint64_t{1} << 20;
  take_disk_reserve(about.run_file);
  std::vector<PartInfo> parts;
  {
    PartWriter writer(about);
    for (std::uint64_t i = 0; i < 3000; ++i) writer.write(make_slice(i, 200, false));
    parts = writer.close();
  }
  U64 slices;
  std::size_t moved = 0;
  for (const auto& part : parts) {
    const auto path = disk.folder / part.name;
    std::ranges::copy(slices_in(path), std::back_inserter(slices));
    if (leads_to_moved(path)) ++moved;
  }
  U64 all(3000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(slices, all);
  EXPECT_GT(moved, 0U);
  EXPECT_LT(moved, parts.size());
  EXPECT_EQ(read_part_list(disk.folder / "run.part-0000.list").parts.size(), parts.size());
  EXPECT_TRUE(is_marked_full(about.run_file));
}

TEST_F(PartWriterTest, CloseReportsThatTheLastPartHasNotArrived) {
  auto about = settings(false);
  about.list = PartListPlace{};
  PartWriter writer(about);
  writer.write(make_slice(1, 3, false));
  // A foreign file that appeared after the part was begun.
  std::ofstream(folder / "run.part-0000-0000.h5") << "somebody's";
  EXPECT_THROW(writer.close(), UserError);
  EXPECT_EQ(writer.finished().size(), 0U);
  EXPECT_EQ(std::filesystem::file_size(folder / "run.part-0000-0000.h5"), 10U);
}

/// A part is listed before it is named, so that no name exists without an entry.
TEST_F(PartWriterTest, OnDiskThenListedThenNamed) {
  const auto scratch = folder / "scratch";
  std::filesystem::create_directory(scratch);
  for (const auto& where : {std::filesystem::path(), scratch}) {
    OutputFile file(folder / "a.h5", {.scratch = where});
    const auto bytes = file.close();
    bool called = false;
    file.publish([&] {
      called = true;
      EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
      EXPECT_EQ(std::filesystem::file_size(folder / "a.h5.partial"), bytes) << "beside its place, whole";
      EXPECT_TRUE(std::filesystem::is_empty(scratch));
    });
    EXPECT_TRUE(called);
    EXPECT_EQ(files(), (std::set<std::string>{"a.h5", "scratch"}));
    EXPECT_EQ(std::filesystem::file_size(folder / "a.h5"), bytes);
    std::filesystem::remove(folder / "a.h5");
  }
}

TEST_F(PartWriterTest, APartThatCannotBeListedGetsNoName) {
  OutputFile file(folder / "a.h5");
  file.close();
  EXPECT_THROW(file.publish([] { throw UserError("no list"); }), UserError);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
}

}  // namespace
}  // namespace eventloom
