#include "io/event_files/event_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "core/runtime/error.hpp"
#include "event_maker.hpp"
#include "io/event_files/hld_format.hpp"
#include "io/event_files/lmd_format.hpp"

namespace eventloom {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr std::size_t kLmdHeader = 48;
constexpr std::size_t kHitEvent = 16 + 12 + 4 * 9;  ///< bytes of an LMD event of one hit without LMD payload

class EventFilesTest : public testing::Test {
 protected:
  EventFilesTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("event_files_") + test->name() + std::to_string(getpid()));
    fs::create_directory(folder_);
  }
  ~EventFilesTest() override { fs::remove_all(folder_); }

  static std::unique_ptr<EventFormat> lmd() {
    return std::make_unique<LmdFormat>("out", LmdEventMaker(EventSplitter(origins(), 1000), HldEventMaker({})));
  }
  static std::unique_ptr<EventFormat> hld() {
    return std::make_unique<HldFormat>(HldFormat::Names{"out", 0, 0}, EventSplitter(origins(), 1000),
                                       HldEventMaker({}));
  }
  static MadeEvent one_hit(Tick time) {
    MadeEvent event;
    event.hit(time, 4, 1);
    return event;
  }
  EventFilesSummary write(std::size_t events, std::uint64_t most_bytes, bool replace = false) const {
    EventFiles files(lmd(), {folder_, most_bytes, {}, replace});
    for (std::size_t i = 0; i < events; ++i) files.write(one_hit(Tick(i)).view());
    return files.finish();
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }
  [[nodiscard]] Words read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return words_of(std::as_bytes(std::span(text)));
  }
  template <class Steps>
  std::string refusal(Steps steps) {
    try {
      steps();
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(EventFilesTest, NothingAtAllIsAFile) {
  const auto summary = write(0, 0);
  EXPECT_EQ(summary.files, std::vector{folder_ / "out_0000.lmd"});
  EXPECT_EQ(summary.events, 0U);
  EXPECT_EQ(summary.bytes, kLmdHeader);
  EXPECT_EQ(read("out_0000.lmd").size() * 4, kLmdHeader);
}

/// No file exceeds the requested size, and none had room for the first event of the next.
TEST_F(EventFilesTest, FilesEndAtASize) {
  const auto summary = write(7, kLmdHeader + 3 * kHitEvent);
  EXPECT_EQ(summary.events, 7U);
  EXPECT_EQ(names(), (std::set<std::string>{"out_0000.lmd", "out_0001.lmd", "out_0002.lmd"}));
  EXPECT_EQ(fs::file_size(folder_ / "out_0001.lmd"), kLmdHeader + 3 * kHitEvent);
  EXPECT_EQ(fs::file_size(folder_ / "out_0002.lmd"), kLmdHeader + kHitEvent);
  EXPECT_EQ(summary.bytes, 3 * kLmdHeader + 7 * kHitEvent);
  EXPECT_EQ(read("out_0001.lmd").at(12 + 3), 4U) << "numbers continue";
}

TEST_F(EventFilesTest, TheEndOfAnHldFileCounts) {
  const std::size_t event = 32 + 16 + 4 * 10;
  EventFiles files(hld(), {folder_, 32 + 2 * event + 32, {}, false});
  for (Tick time = 0; time < 3; ++time) files.write(one_hit(time).view());
  const auto summary = files.finish();
  ASSERT_EQ(summary.files.size(), 2U);
  EXPECT_EQ(fs::file_size(summary.files[0]), 32 + 2 * event + 32);
  EXPECT_EQ(summary.files[1].filename(), "out08010212001.hld");
  EXPECT_EQ(read("out08010212001.hld").at(8 + 6), 1U) << "the event has the run number of its file";
}

TEST_F(EventFilesTest, AnEventThatIsLongerHasItsOwnFile) {
  const auto summary = write(3, kLmdHeader + 1);
  EXPECT_EQ(summary.files.size(), 3U);
}

TEST_F(EventFilesTest, UnfinishedFilesHaveNoFinalName) {
  {
    EventFiles files(lmd(), {folder_, kLmdHeader + kHitEvent, {}, false});
    files.write(one_hit(1).view());
    EXPECT_EQ(names(), std::set<std::string>{"out_0000.lmd.partial"});
    files.write(one_hit(2).view());
    EXPECT_EQ(names(), (std::set<std::string>{"out_0000.lmd", "out_0001.lmd.partial"}));
  }
  EXPECT_EQ(names(), std::set<std::string>{"out_0000.lmd"});
}

TEST_F(EventFilesTest, ExistingFilesStay) {
  write(1, 0);
  EXPECT_NE(refusal([&] { write(2, 0); }).find("out_0000.lmd' exists; use --force"), std::string::npos);
  EXPECT_EQ(fs::file_size(folder_ / "out_0000.lmd"), kLmdHeader + kHitEvent);
}

TEST_F(EventFilesTest, AReplacedOutputLeavesNoFilesBehind) {
  write(5, kLmdHeader + kHitEvent);
  write(2, kLmdHeader + kHitEvent, true);
  EXPECT_EQ(names(), (std::set<std::string>{"out_0000.lmd", "out_0001.lmd"}));
}

TEST_F(EventFilesTest, ForeignFilesAreNeverReplaced) {
  std::ofstream(folder_ / "out_0001.lmd") << "precious";
  EXPECT_NE(refusal([&] { write(2, kLmdHeader + kHitEvent, true); }).find("not a file that Eventloom may replace"),
            std::string::npos);
  EXPECT_NE(refusal([&] { write(1, 0, true); }).find("out_0001.lmd"), std::string::npos);
  EXPECT_EQ(fs::file_size(folder_ / "out_0001.lmd"), 8U);
}

TEST_F(EventFilesTest, EventsThatReadersWouldTakeForDamageAreRefused) {
  MadeEvent event;
  event.hit(77, 4, 1, Words((256U << 20) / 4));
  EventFiles files(lmd(), {folder_, 0, {}, false});
  EXPECT_NE(refusal([&] { files.write(event.view()); }).find("the event at 77 would have"), std::string::npos);
}

TEST_F(EventFilesTest, AnUnwritableFolderIsNamed) {
  EXPECT_NE(refusal([&] {
              EventFiles(lmd(), {folder_ / "nothing", 0, {}, false});
            }).find("nothing/out_0000.lmd"),
            std::string::npos);
}

}  // namespace
}  // namespace eventloom
