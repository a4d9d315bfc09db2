#include "io/files/own_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "core/runtime/error.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/durable.hpp"
#include "io/files/output_lock.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;

class OwnFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("own_file_test." + std::to_string(getpid()));
};

bool is_ours(const fs::path& file) { return head_of(file, 4) == "ours"; }

TEST_F(OwnFiles, ALockIsKnownByItsText) {
  {
    const OutputLock lock(folder_ / "run.h5");
    EXPECT_TRUE(OutputLock::is_lock(folder_ / "run.h5.lock"));
  }
  EXPECT_TRUE(fs::is_empty(folder_)) << "removed at its end";
  put("run.h5.lock", "eventloom-lock: process 1 on a host that died, whose name was longer than this one's\n");
  {
    const OutputLock lock(folder_ / "run.h5");
    EXPECT_EQ(text_of("run.h5.lock").find("died"), std::string::npos);
    EXPECT_TRUE(text_of("run.h5.lock").ends_with('\n'));
  }
  for (const std::string text : {"", "a note"}) {
    put("run.h5.lock", text);
    EXPECT_THROW(OutputLock(folder_ / "run.h5"), UserError) << text;
    EXPECT_EQ(text_of("run.h5.lock"), text);
  }
}

TEST_F(OwnFiles, ACopyBeginsWithItsMarkUntilItIsWhole) {
  const auto from = folder_ / "from";
  ASSERT_EQ(::mkfifo(from.c_str(), 0600), 0);
  const std::string text = "TRUE HEAD" + std::string(3 << 20, 'x');
  std::promise<void> seen;
  std::thread writer([&] {
    std::ofstream out(from);
    out << text << std::flush;
    seen.get_future().wait();
  });
  std::thread reader([&] {
    PartialFile file(folder_ / "made", is_ours);
    file.copy_from(from, "a mark");
    file.sync();
    file.publish();
  });
  // The first block has 8 MiB: until the reader closes, only the mark is written.
  while (text_of("made.partial").size() < 6) std::this_thread::yield();
  EXPECT_EQ(text_of("made.partial"), "a mark");
  seen.set_value();
  writer.join();
  reader.join();
  EXPECT_EQ(text_of("made"), text);
}

TEST_F(OwnFiles, NothingThatCameMeanwhileIsReplaced) {
  PartialFile file(folder_ / "made", is_ours);
  file.write(std::as_bytes(std::span("new", 3)));
  file.sync();
  put("made", "ours, but of another");
  EXPECT_THROW(file.publish(), UserError);
  EXPECT_EQ(text_of("made"), "ours, but of another");
  EXPECT_EQ(text_of("made.partial"), "new") << "it may be all there is";
  EXPECT_FALSE(rename_to_free_name(folder_ / "made.partial", folder_ / "made"));
  EXPECT_TRUE(rename_to_free_name(folder_ / "made.partial", folder_ / "other"));
}

TEST_F(OwnFiles, ARecordingReplacesNoOther) {
  const StreamHeader header;
  const auto path = (folder_ / "source-0000.epochs").string();
  StreamWriter(path, header).finish();
  const auto before = text_of("source-0000.epochs");
  EXPECT_THROW(StreamWriter(path, header, is_nobodys), UserError);
  StreamWriter(path, header).abandon();
  EXPECT_THROW(StreamWriter(path, header, is_nobodys), UserError);
  EXPECT_EQ(text_of("source-0000.epochs"), before);
  EXPECT_TRUE(fs::exists(path + ".partial"));
}

TEST_F(OwnFiles, FoldersAreMadeAllOrNone) {
  create_folder_durably(folder_ / "a/b/c/");
  create_folder_durably(folder_ / "a/b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b/c"));
  EXPECT_THROW(create_folder_durably(folder_ / "d/e" / std::string(300, 'x')), UserError);
  EXPECT_FALSE(fs::exists(folder_ / "d"));
  put("text", "mine");
  EXPECT_THROW(create_folder_durably(folder_ / "text/below"), UserError);
  EXPECT_THROW(create_folder_durably(folder_ / "text"), UserError);
}

}  // namespace
}  // namespace eventloom
