#include "io/epochs/bus_guard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "io/epochs/epochs_source.hpp"
#include "io/epochs/mapped_file.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

constexpr std::size_t kPage = 4096;

using LostFile = EpochFiles;

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::ranges::all_of(bytes, [value](std::byte b) { return b == value; });
}

TEST_F(LostFile, ReadsAsZerosBeyondTheCut) {
  const auto path = write(Bytes(8 * kPage, std::byte{0x5a}));
  const MappedFile file(path);
  EXPECT_TRUE(all_are(file.bytes(), std::byte{0x5a}));
  EXPECT_FALSE(file.lost());
  std::filesystem::resize_file(path, 3 * kPage);
  EXPECT_TRUE(all_are(file.bytes().first(3 * kPage), std::byte{0x5a}));
  EXPECT_FALSE(file.lost()) << "nothing beyond the cut was read";
  EXPECT_TRUE(all_are(file.bytes().subspan(3 * kPage), std::byte{0}));
  EXPECT_TRUE(file.lost());
}

TEST_F(LostFile, LeavesOthersAlone) {
  const auto path = write(Bytes(4 * kPage, std::byte{0x5a}));
  const auto other_path = path + ".other";
  std::filesystem::copy_file(path, other_path);
  const MappedFile other(other_path);
  {
    const MappedFile file(path);
    std::filesystem::resize_file(path, 0);
    EXPECT_TRUE(all_are(file.bytes(), std::byte{0}));
    EXPECT_TRUE(file.lost());
  }
  EXPECT_TRUE(all_are(other.bytes(), std::byte{0x5a}));
  EXPECT_FALSE(other.lost());
  const MappedFile next(other_path);  // takes the place of the lost one
  EXPECT_FALSE(next.lost());
}

/// Faults in memory that is not guarded still terminate the program.
TEST_F(LostFile, PassesOtherFaultsOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto path = write(Bytes(4 * kPage));
  const auto fault = [&path] {
    const MappedFile watched(path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const void* map = mmap(nullptr, 4 * kPage, PROT_READ, MAP_PRIVATE, file, 0);
    std::filesystem::resize_file(path, 0);
    static_cast<void>(*static_cast<const volatile std::byte*>(map));
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
}

/// A recording with a buffer of some pages per epoch.
StreamMaker long_recording() {
  StreamMaker maker;
  for (Epoch epoch = 0; epoch < 200; ++epoch) maker.add(epoch, 2000);
  return maker;
}

/// The result of reading a source slice by slice.
struct Account {
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;
};

/// Reads ten epochs at a time; cuts the file to `bytes` before epoch `cut`.
Account walk(EpochsSource& source, const std::string& path, Epoch cut, std::uint64_t bytes) {
  Account account;
  SliceData data;
  for (Epoch at = 0; at < source.end_epoch(); at += 10) {
    if (at == cut) std::filesystem::resize_file(path, bytes);
    data.clear();
    source.collect({at, at + 10}, data);
    account.hits += hits_in(data);
    for (const auto& damage : data.damage) {
      if (EpochRange{at, at + 10}.contains(damage.first_epoch)) account.lost += damage.n_hits;
    }
    source.release_before(at + 10);
  }
  return account;
}

TEST_F(LostFile, ARecordingThatIsCutWhileItIsReadIsDamageFromThereOn) {
  const auto maker = long_recording();
  for (const bool with_index : {true, false}) {
    for (const std::uint64_t tenth : {0U, 4U, 9U}) {
      const auto file = with_index ? maker.with_index() : maker.without_index();
      const auto path = write(file);
      const std::string what = std::to_string(tenth) + " tenths left" + (with_index ? ", index" : "");
      EpochsSource source(path);
      const auto account = walk(source, path, 50, file.size() / 10 * tenth);
      EXPECT_EQ(account.hits + account.lost, source.hits_read()) << what;
      EXPECT_GE(account.hits, 50 * 2000U) << what;
      EXPECT_GT(account.lost, 0U) << what;
      EXPECT_GT(source.anomalies(), 0U) << what;
      ASSERT_TRUE(source.tail_damage()) << what;
      EXPECT_EQ(source.tail_damage()->cause, DropCause::corrupt) << what;
      EXPECT_GE(source.tail_damage()->first_epoch, Epoch(50)) << what;
    }
  }
}

/// Afterwards the source ends in damage, and the file is not read again.
TEST_F(LostFile, ALostRecordingComesToAnEnd) {
  const auto path = write(long_recording().with_index());
  EpochsSource source(path);
  SliceData data;
  source.collect({0, 10}, data);
  std::filesystem::resize_file(path, 0);
  std::vector<Epoch> steps;
  for (auto at = source.next_beginning(10); at && steps.size() < 1000; at = source.next_beginning(*at + 10)) {
    steps.push_back(*at);
    data.clear();
    source.collect({*at, *at + 10}, data);
    EXPECT_TRUE(data.pieces.empty());
  }
  EXPECT_LT(steps.size(), 30U);
  EXPECT_GT(source.anomalies(), 0U);
  EXPECT_TRUE(source.tail_damage());
  data.clear();
  source.collect({150, 160}, data);
  EXPECT_EQ(data.damage.size(), 1U) << "damage has no end";
}

}  // namespace
}  // namespace eventloom::test
