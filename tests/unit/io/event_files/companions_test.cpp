#include "io/event_files/companions.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "core/runtime/error.hpp"
#include "event_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr std::size_t kLmdStart = 48;
constexpr std::size_t kLmdOfOneHit = 16 + 12 + 4 * 9;  ///< of one hit without LMD payload
constexpr std::size_t kHldOfOneHit = 32 + 16 + 4 * 10;

BuiltSlice slice_of(std::size_t events) {
  BuiltSlice slice;
  for (std::size_t i = 0; i < events; ++i) {
    slice.events.time.emplace_back(i);
    slice.events.duration.push_back(0);
    slice.events.n_hits.push_back(1);
    slice.hits.time.emplace_back(i);
    slice.hits.channel.push_back(1);
    slice.hits.source.push_back(0);
  }
  return slice;
}

class CompanionsTest : public testing::Test {
 protected:
  CompanionsTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("companions_") + test->name() + std::to_string(getpid()));
    fs::create_directory(folder_);
    settings_.run = {{"hits"}, 1000, false, {}, 0};
  }
  ~CompanionsTest() override { fs::remove_all(folder_); }

  void add(bool hld, std::uint64_t most_bytes, std::uint32_t first_file = 0) {
    settings_.outputs.push_back(
        {{.hld = hld, .folder = folder_, .stem = "out", .most_bytes = most_bytes, .run = {}}, first_file});
  }
  [[nodiscard]] Names names() const {
    Names found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }
  [[nodiscard]] Words read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return words_of(std::as_bytes(std::span(text)));
  }

  fs::path folder_;
  CompanionSettings settings_;
};

TEST_F(CompanionsTest, APartHasAFileOfEachFormat) {
  add(false, 0);
  add(true, 0);
  Companions companions(settings_);
  companions.begin();
  EXPECT_EQ(names(), (Names{"out_0000.lmd.partial", "out08010212000.hld.partial"}));
  EXPECT_TRUE(companions.write(slice_of(2)));
  EXPECT_TRUE(companions.write(slice_of(1)));
  auto part = companions.end();
  const auto infos = part.infos();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].name, "out_0000.lmd");
  EXPECT_EQ(infos[0].events, 3U);
  EXPECT_EQ(infos[0].bytes, kLmdStart + 3 * kLmdOfOneHit);
  EXPECT_EQ(infos[1].bytes, 32 + 3 * kHldOfOneHit + 32);
  part.sync();
  part.publish();
  EXPECT_EQ(names(), (Names{"out_0000.lmd", "out08010212000.hld"}));
  EXPECT_EQ(fs::file_size(folder_ / "out_0000.lmd"), infos[0].bytes);
}

TEST_F(CompanionsTest, NumbersContinueWithTheWriter) {
  settings_.first_event = 100;
  add(false, 0, 7);
  Companions companions(settings_);
  for (int part = 0; part < 2; ++part) {
    companions.begin();
    companions.write(slice_of(1));
    companions.end().publish();
  }
  EXPECT_EQ(names(), (Names{"out_0007.lmd", "out_0008.lmd"}));
  EXPECT_EQ(read("out_0007.lmd").at(12 + 3), 100U);
  EXPECT_EQ(read("out_0008.lmd").at(12 + 3), 101U);
}

/// A slice that does not fit is in none of the files, and the events of the next part have the numbers that follow.
TEST_F(CompanionsTest, ASliceWithoutRoomInOneFormatIsTakenBackFromTheOthers) {
  add(false, 0);
  add(true, 32 + 3 * kHldOfOneHit + 32);
  Companions companions(settings_);
  companions.begin();
  EXPECT_TRUE(companions.write(slice_of(2)));
  EXPECT_FALSE(companions.write(slice_of(2)));
  EXPECT_TRUE(companions.write(slice_of(1))) << "there is room for it";
  EXPECT_FALSE(companions.write(slice_of(1)));
  const auto infos = companions.end().infos();
  EXPECT_EQ(infos[0].bytes, kLmdStart + 3 * kLmdOfOneHit);
  EXPECT_EQ(infos[0].events, 3U);
  EXPECT_EQ(infos[1].events, 3U);
  companions.begin();
  EXPECT_TRUE(companions.write(slice_of(1)));
  companions.end().publish();
  EXPECT_EQ(read("out_0001.lmd").at(12 + 3), 4U);
}

TEST_F(CompanionsTest, ASliceThatIsTooLongForOneFileHasSeveral) {
  add(false, kLmdStart + 2 * kLmdOfOneHit);
  Companions companions(settings_);
  companions.begin();
  EXPECT_TRUE(companions.write(slice_of(0)));
  EXPECT_TRUE(companions.write(slice_of(5)));
  EXPECT_TRUE(companions.write(slice_of(1))) << "the last has room";
  EXPECT_FALSE(companions.write(slice_of(1)));
  EXPECT_EQ(names(), (Names{"out_0000.lmd.partial", "out_0001.lmd.partial", "out_0002.lmd.partial"}))
      << "the part has not ended";
  auto part = companions.end();
  part.publish();
  std::uint32_t number = 0;
  for (const auto& info : part.infos()) {
    EXPECT_EQ(info.number, number++);
    EXPECT_EQ(info.events, 2U);
    EXPECT_EQ(fs::file_size(folder_ / info.name), kLmdStart + 2 * kLmdOfOneHit);
  }
}

TEST_F(CompanionsTest, WhatIsNotKeptIsRemoved) {
  add(false, 0);
  Companions companions(settings_);
  companions.begin();
  companions.write(slice_of(1));
  {
    const auto lost = companions.end();
    EXPECT_EQ(names(), Names{"out_0000.lmd.partial"});
  }
  EXPECT_EQ(names(), Names{});
  companions.begin();
  companions.end().keep();
  EXPECT_EQ(names(), Names{"out_0001.lmd.partial"});
  companions.begin();
  companions.abandon();
  EXPECT_EQ(names(), Names{"out_0001.lmd.partial"});
}

TEST_F(CompanionsTest, ExistingFilesStay) {
  add(false, 0);
  Companions first(settings_);
  first.begin();
  first.end().publish();
  EXPECT_THROW(Companions(settings_).begin(), UserError);
  settings_.replace = true;
  Companions(settings_).begin();
  std::ofstream(folder_ / "out_0000.lmd") << "a thesis";
  EXPECT_THROW(Companions(settings_).begin(), UserError);
  EXPECT_EQ(names(), Names{"out_0000.lmd"});
}

}  // namespace
}  // namespace eventloom
