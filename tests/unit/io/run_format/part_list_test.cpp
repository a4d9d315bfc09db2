#include "io/run_format/part_list.hpp"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <numeric>

#include "core/runtime/error.hpp"
#include "file_size_limit.hpp"
#include "run_maker.hpp"

namespace {

/// Records what was to be made durable, and may refuse. The real disk is not waited for.
struct Disk {
  int data_synced = 0;
  off_t bytes_synced = 0;  // of the last file
  int folders_synced = 0;
  bool broken = false;
};
Disk disk;

}  // namespace

// Replaces the C library's function in the whole test program.
extern "C" int fdatasync(int file) {
  struct stat status {};
  if (fstat(file, &status) == 0) disk.bytes_synced = status.st_size;
  ++disk.data_synced;
  if (disk.broken) errno = EIO;
  return disk.broken ? -1 : 0;
}

extern "C" int fsync(int file) {
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) ++disk.folders_synced;
  return 0;
}

namespace eventloom {

static bool operator==(const PartInfo& a, const PartInfo& b) {
  return a.name == b.name && a.writer == b.writer && a.segment == b.segment && a.first_slice == b.first_slice &&
         a.last_slice == b.last_slice && a.slices == b.slices && a.events == b.events && a.hits == b.hits &&
         a.bytes == b.bytes;
}

static bool operator==(const FinishedPart& a, const FinishedPart& b) {
  return a.info == b.info && a.slices == b.slices && a.totals == b.totals;
}

namespace {

/// A part in which all numbers differ.
FinishedPart part_of(std::uint32_t segment, std::uint32_t writer = 3) {
  FinishedPart part;
  std::uint64_t n = std::uint64_t{1000} * (segment + 1);
  const auto next = [&] { return ++n; };
  part.info = {part_name("run.h5", writer, segment), writer, segment, next(), next(), next(), next(), next(), next()};
  part.slices = {{next(), next(), next()}, {next(), next(), next()}};
  auto& t = part.totals;
  for (const auto account : {Account::slices, Account::dropped}) {
    for (const auto& metric : metrics_of(account)) t[metric.metric] = next();
  }
  std::ranges::generate(t.events_lacking, next);
  t.live_hits = {{2, next()}, {5, next()}};
  return part;
}

std::vector<FinishedPart> parts_up_to(std::uint32_t n) {
  std::vector<FinishedPart> parts;
  for (std::uint32_t i = 0; i < n; ++i) parts.push_back(part_of(i));
  return parts;
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void spill(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string message_of(const std::filesystem::path& list) {
  try {
    read_part_list(list);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

class PartListTest : public FolderTest {
 protected:
  PartListTest() { disk = {}; }
  ~PartListTest() override { disk = {}; }

  void write(std::uint32_t n) {
    PartList list(path, 0, 0);
    for (const auto& part : parts_up_to(n)) list.append(part);
  }

  /// The header and the entries, including their line ends.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) all.push_back(line + '\n');
    return all;
  }

  void put_back(const std::vector<std::string>& lines) const {
    spill(path, std::accumulate(lines.begin(), lines.end(), std::string()));
  }

  void expect_refused(const std::vector<std::string>& lines, const std::string& why) const {
    put_back(lines);
    const auto message = message_of(path);
    EXPECT_NE(message.find(why), std::string::npos) << message;
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
  }

  std::filesystem::path path = folder / "run.part-0003.list";
};

TEST_F(PartListTest, NamesFollowTheRunFile) {
  EXPECT_EQ(part_list_name("/data/run.h5", 3), "run.part-0003.list");
  EXPECT_EQ(part_list_name("night.2.h5", 12345), "night.2.part-12345.list");
}

TEST_F(PartListTest, ReadsBackWhatWasWritten) {
  write(3);
  const auto read = read_part_list(path);
  EXPECT_EQ(read.parts, parts_up_to(3));
  EXPECT_EQ(read.good_bytes, std::filesystem::file_size(path));
  EXPECT_EQ(read.torn_bytes, 0U);
  EXPECT_EQ(lines().at(0), "eventloom-part-list 1\n");
  EXPECT_EQ(lines().back().substr(0, 8), fmt::format("{:08x}", read.chain));
}

TEST_F(PartListTest, KeepsNumbersOf64BitsAndPartsWithoutSlices) {
  FinishedPart part;
  part.info.name = "a \"strange\" name.h5";
  part.totals[Metric::hits_in] = std::numeric_limits<std::uint64_t>::max();
  PartList(path, 0, 0).append(part);
  EXPECT_EQ(read_part_list(path).parts, std::vector{part});
}

// Compares with the description in part_list.hpp, by another implementation of CRC-32C (the "crcmod" table form).
TEST_F(PartListTest, ChecksumsAreThoseOfTheDescription) {
  const auto crc = [](std::uint32_t chain, const std::string& json) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(chain >> 8 * i));
    std::uint32_t sum = ~std::uint32_t{0};
    for (const char byte : bytes + json) {
      sum ^= static_cast<unsigned char>(byte);
      for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? 0x82f63b78U : 0U);
    }
    return ~sum;
  };
  write(3);
  std::uint32_t chain = 0;
  const auto all = lines();
  for (std::size_t i = 1; i < all.size(); ++i) {
    chain = crc(chain, all[i].substr(9, all[i].size() - 10));
    EXPECT_EQ(all[i].substr(0, 9), fmt::format("{:08x} ", chain));
  }
}

TEST_F(PartListTest, IsOnDiskWhenAppendReturns) {
  PartList list(path, 0, 0);
  EXPECT_EQ(disk.folders_synced, 1);
  for (const auto& part : parts_up_to(3)) {
    const auto before = disk.data_synced;
    list.append(part);
    EXPECT_EQ(disk.data_synced, before + 1);
    EXPECT_EQ(static_cast<std::uint64_t>(disk.bytes_synced), std::filesystem::file_size(path));
  }
}

TEST_F(PartListTest, ALastLineTornAnywhereCostsItself) {
  write(3);
  const auto text = slurp(path);
  const auto last = text.size() - lines().back().size();
  for (auto cut = last; cut < text.size(); ++cut) {
    spill(path, text.substr(0, cut));
    const auto read = read_part_list(path);
    ASSERT_EQ(read.parts, parts_up_to(2)) << cut;
    ASSERT_EQ(read.good_bytes, last);
    ASSERT_EQ(read.torn_bytes, cut - last);

    PartList(path, read.good_bytes, read.chain).append(part_of(2));
    ASSERT_EQ(slurp(path), text) << cut;
  }
}

TEST_F(PartListTest, BlocksThatNeverReachedTheDiskCostTheLastLineOnly) {
  write(3);
  auto text = slurp(path);
  const auto last = text.size() - lines().back().size();
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(last), text.end() - 100, '\0');
  spill(path, text);
  EXPECT_EQ(read_part_list(path).parts, parts_up_to(2));
}

TEST_F(PartListTest, ATornHeaderIsAnEmptyList) {
  write(2);
  const auto text = slurp(path);
  const auto header = lines().at(0).size();
  for (std::size_t cut = 0; cut < header; ++cut) {
    for (const auto& torn : {text.substr(0, cut), std::string(cut, '\0')}) {
      spill(path, torn);
      const auto read = read_part_list(path);
      ASSERT_TRUE(read.parts.empty());
      ASSERT_EQ(read.good_bytes, 0U);
      ASSERT_EQ(read.torn_bytes, cut);
    }
  }
  PartList list(path, 0, 0);
  for (const auto& part : parts_up_to(2)) list.append(part);
  EXPECT_EQ(slurp(path), text);
}

TEST_F(PartListTest, AFlippedBitInTheMiddleIsRefusedAndAtTheEndCostsTheLastLine) {
  write(3);
  const auto good = slurp(path);
  const auto last = good.size() - lines().back().size();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, int byte) {
    file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    put(at, good[at] ^ (1 << at % 8));
    if (at < last) {
      ASSERT_THROW(read_part_list(path), UserError) << at;
    } else {
      ASSERT_EQ(read_part_list(path).parts, parts_up_to(2)) << at;
    }
    put(at, good[at]);
  }
  EXPECT_EQ(read_part_list(path).parts, parts_up_to(3));
}

TEST_F(PartListTest, SaysWhereTheDamageIs) {
  write(3);
  auto all = lines();
  const auto where = fmt::format("line 3 at byte {}: ", all[0].size() + all[1].size());
  const auto stated = all[2].substr(0, 8);
  all[2][40] ^= 1;
  expect_refused(all, where + "checksum ");
  expect_refused(all, " was expected, not " + stated);
  all[2] = "\n";
  expect_refused(all, where + "a checksum of 8 hexadecimal digits and a blank were expected");
  all[0] = "eventloom-part-list 2\n";
  expect_refused(all, "line 1 at byte 0: 'eventloom-part-list 1' was expected here");
}

TEST_F(PartListTest, SwappedDoubledAndMissingLinesAreRefused) {
  write(4);
  const auto all = lines();
  const std::string why = "the line belongs after the one with checksum ";
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      auto swapped = all;
      std::swap(swapped[i], swapped[k]);
      expect_refused(swapped, why);
    }
    auto doubled = all;
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), all[i]);
    expect_refused(doubled, why);
    if (i + 1 == all.size()) continue;  // the last one may not have been written yet
    auto missing = all;
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(i));
    expect_refused(missing, why);
  }
}

TEST_F(PartListTest, SegmentsRiseAndBelongToOneWriter) {
  const auto list_of = [&](const std::vector<FinishedPart>& parts) {
    PartList list(path, 0, 0);
    for (const auto& part : parts) list.append(part);
    return message_of(path);
  };
  EXPECT_EQ(list_of({part_of(1), part_of(4)}), "no error");
  EXPECT_NE(list_of({part_of(1), part_of(1)}).find("a segment after 1 was expected, not 1"), std::string::npos);
  EXPECT_NE(list_of({part_of(2), part_of(1)}).find("a segment after 2 was expected, not 1"), std::string::npos);
  EXPECT_NE(list_of({part_of(1), part_of(2, 5)}).find("of writer 3 was expected, not of writer 5"), std::string::npos);
}

TEST_F(PartListTest, ContinuesAfterWhatWasRead) {
  write(2);
  const auto read = read_part_list(path);
  PartList(path, read.good_bytes, read.chain).append(part_of(2));
  EXPECT_EQ(read_part_list(path).parts, parts_up_to(3));
}

TEST_F(PartListTest, CutsWhatFollowsBeforeItAppends) {
  write(2);
  const auto read = read_part_list(path);
  std::ofstream(path, std::ios::app) << std::string(100'000, 'x');
  const PartList list(path, read.good_bytes, read.chain);
  EXPECT_EQ(std::filesystem::file_size(path), read.good_bytes);
}

TEST_F(PartListTest, AListThatBecameShorterIsRefused) {
  write(1);
  EXPECT_THROW(PartList(path, std::filesystem::file_size(path) + 1, 0), UserError);
}

TEST_F(PartListTest, NamesTheListThatCannotBeOpened) {
  EXPECT_NE(message_of(folder / "none.list").find("none.list': No such file"), std::string::npos);
  EXPECT_THROW(PartList(folder / "none" / "a.list", 0, 0), UserError);
}

TEST_F(PartListTest, AFullDiskLeavesTheEntriesBefore) {
  PartList list(path, 0, 0);
  list.append(part_of(0));
  const auto bytes = std::filesystem::file_size(path);
  for (const rlim_t room : {0, 1, 200}) {
    const FileSizeLimit limit(bytes + room);
    EXPECT_THROW(list.append(part_of(1)), UserError);
    EXPECT_EQ(std::filesystem::file_size(path), bytes);
    EXPECT_EQ(read_part_list(path).parts, parts_up_to(1));
  }
  list.append(part_of(1));
  EXPECT_EQ(read_part_list(path).parts, parts_up_to(2));
}

TEST_F(PartListTest, AnEntryThatTheDiskDoesNotTakeDoesNotCount) {
  PartList list(path, 0, 0);
  list.append(part_of(0));
  disk.broken = true;
  try {
    list.append(part_of(1));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), "cannot write '" + path.string() + "': Input/output error");
  }
  EXPECT_EQ(read_part_list(path).parts, parts_up_to(1));
}

TEST_F(PartListTest, ReadsManyEntries) {
  constexpr std::uint32_t kParts = 20'000;
  PartList list(path, 0, 0);
  FinishedPart part;
  for (auto& i = part.info.segment; i < kParts; ++i) list.append(part);
  const auto read = read_part_list(path);
  ASSERT_EQ(read.parts.size(), kParts);
  EXPECT_EQ(read.parts.back().info.segment, kParts - 1);
}

}  // namespace
}  // namespace eventloom
