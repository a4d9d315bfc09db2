#include "io/run_output/run_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "core/runtime/error.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_input/finished_work.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public FolderTest {
 protected:
  [[nodiscard]] fs::path run_file() const { return folder / "run.h5"; }

  void put(const std::string& name, const std::string& text = "x") const { std::ofstream(folder / name) << text; }
  /// Creates an unfinished file or a list, depending on the name.
  void put_own(const std::string& name) const {
    put(name, name.ends_with(".list") ? "eventloom-part-list 1\n" : std::string(kInTheMaking));
  }

  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }

  /// Creates a writer's list, and a file of 100 bytes for each of its parts.
  void put_list(std::uint32_t writer, std::uint32_t parts) const {
    PartList list(folder / part_list_name(run_file(), writer), 0, 0);
    for (std::uint32_t segment = 0; segment < parts; ++segment) {
      FinishedPart part;
      part.info = {.name = part_name(run_file(), writer, segment), .writer = writer, .segment = segment};
      part.info.slices = 1;
      part.info.bytes = 100;
      part.slices = {{10 * writer + segment, 1, 1}};
      part.totals[Metric::slices] = 1;
      put(part.info.name, std::string(100, static_cast<char>('a' + segment)));
      list.append(part);
    }
  }

  /// Names, contents and times of all files.
  [[nodiscard]] std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> found;
    for (const auto& name : files()) {
      struct stat about {};
      ::stat((folder / name).c_str(), &about);
      found[name] = text_of(name) + ' ' + std::to_string(about.st_ino) + ' ' + std::to_string(about.st_mtim.tv_nsec);
    }
    return found;
  }

  /// Takes up the folder like a resumed run.
  FinishedWork take_up(const DamagedParts& damaged = {}) const {
    auto work = read_finished_work(run_file());
    take_up_run(run_file(), work, damaged);
    return work;
  }

  /// Expects that the folder is refused with a message that names `what`, and that all files, including the stray one,
  /// stay unchanged.
  void expect_refused(const std::string& what) const {
    put_own("run.part-0007-0000.h5.partial");
    const auto before = state();
    try {
      take_up();
      FAIL() << "no exception";
    } catch (const UserError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(what), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
    EXPECT_EQ(state(), before);
  }
};

TEST_F(RunFolderTest, TakesUpWhatIsFinished) {
  put("run.h5");
  put_list(0, 3);
  put_list(12, 1);
  put_list(3, 0);
  const auto before = state();
  const auto work = take_up();
  ASSERT_EQ(work.parts.size(), 4U);
  std::set<std::string> names;
  for (const auto& part : work.parts) names.insert(part.info.name);
  EXPECT_EQ(names, (std::set<std::string>{"run.part-0000-0000.h5", "run.part-0000-0001.h5", "run.part-0000-0002.h5",
                                          "run.part-0012-0000.h5"}));
  ASSERT_EQ(work.writers.size(), 3U);
  EXPECT_EQ(work.writers.at(0).next_segment, 3U);
  EXPECT_EQ(work.writers.at(12).next_segment, 1U);
  EXPECT_EQ(work.writers.at(3).next_segment, 0U);
  EXPECT_EQ(work.writers.at(0).list.good_bytes, fs::file_size(folder / "run.part-0000.list"));
  EXPECT_EQ(state(), before);
}

TEST(WriterPlace, ContinuesAfterItsParts) {
  WriterPlace place;
  place.go_past(
      {.name = "a", .segment = 4, .events = 10, .event_files = {{"x_0007.lmd", 7}, {"x_0008.lmd", 8}, {"x.hld", 2}}});
  place.go_past({.name = "b", .segment = 2, .events = 5, .event_files = {{"x_0006.lmd", 6}}});
  EXPECT_EQ(place.next_segment, 5U);
  EXPECT_EQ(place.events, 15U);
  EXPECT_EQ(place.next_files, (std::map<std::string, std::uint32_t>{{".hld", 3}, {".lmd", 9}}));
}

TEST_F(RunFolderTest, NothingIsFinishedWithoutLists) {
  put("run.h5");
  put_own("run.part-0000-0000.h5");
  const auto work = take_up();
  EXPECT_TRUE(work.parts.empty());
  EXPECT_TRUE(work.writers.empty());
  EXPECT_EQ(files(), std::set<std::string>{"run.h5"});
}

/// A list continues where it ended, and the next reader sees all of it.
TEST_F(RunFolderTest, TheListContinuesFromItsPlace) {
  put_list(0, 2);
  put("run.part-0000.list", text_of("run.part-0000.list") + "0123 half a li");
  const auto place = take_up().writers.at(0);
  EXPECT_EQ(place.next_segment, 2U);
  {
    PartWriter writer({.run_file = run_file(),
                       .writer = 0,
                       .first_segment = place.next_segment,
                       .list = PartListPlace{place.list.good_bytes, place.list.chain}});
    writer.write(make_slice(77, 3, false));
    writer.close();
  }
  const auto work = take_up();
  ASSERT_EQ(work.parts.size(), 3U);
  EXPECT_EQ(work.parts[2].info.name, "run.part-0000-0002.h5");
  EXPECT_EQ(work.parts[2].slices, (std::vector<SliceRun>{{77, 1, 1}}));
  EXPECT_EQ(work.writers.at(0).next_segment, 3U);
}

/// The state after a crash between the two steps. The file that already has the name is the finished one.
TEST_F(RunFolderTest, GivesNamesToPartsThatAreInAList) {
  put_list(0, 3);
  for (const char* name : {"run.part-0000-0000.h5", "run.part-0000-0002.h5"}) {
    fs::rename(folder / name, folder / (std::string(name) + ".partial"));
  }
  put("run.part-0000-0001.h5.partial", std::string(kInTheMaking) + std::string(54, 'z'));
  EXPECT_EQ(take_up().parts.size(), 3U);
  EXPECT_EQ(files(), (std::set<std::string>{"run.part-0000-0000.h5", "run.part-0000-0001.h5", "run.part-0000-0002.h5",
                                            "run.part-0000.list"}));
  EXPECT_EQ(text_of("run.part-0000-0000.h5"), std::string(100, 'a'));
  EXPECT_EQ(text_of("run.part-0000-0001.h5"), std::string(100, 'b'));
  EXPECT_EQ(text_of("run.part-0000-0002.h5"), std::string(100, 'c'));
}

TEST_F(RunFolderTest, RemovesPartsThatAreInNoList) {
  put_list(0, 1);
  const std::set<std::string> strays = {"run.part-0000-0001.h5", "run.part-0000-0001.h5.partial",
                                        "run.part-0004-0000.h5", "run.part-12345-10000.h5"};
  const std::set<std::string> others = {"run.h5", "run.merged.h5", "run2.part-0000-0000.h5", "run.part-a-b.h5"};
  auto kept = files();
  for (const auto& name : strays) put_own(name);
  for (const auto& name : others) put_own(name);
  put("run.part-0009-0000.h5", "somebody's");
  fs::create_directory(folder / "run.part-0009-0001.h5");
  fs::create_symlink("run.h5", folder / "run.part-0009-0002.h5");
  kept.insert(others.begin(), others.end());
  kept.insert({"run.part-0009-0000.h5", "run.part-0009-0001.h5", "run.part-0009-0002.h5"});
  take_up();
  EXPECT_EQ(files(), kept);
}

TEST_F(RunFolderTest, SaysWhatIsWrongWithAListedPart) {
  put_list(0, 4);
  fs::remove(folder / "run.part-0000-0001.h5");
  fs::resize_file(folder / "run.part-0000-0002.h5", 99);
  const auto parts = read_finished_work(run_file()).parts;
  EXPECT_EQ(damage_of_part(run_file(), parts[1].info), "is missing");
  EXPECT_EQ(damage_of_part(run_file(), parts[2].info), "has 99 bytes, not 100");
  EXPECT_EQ(damage_of_part(run_file(), parts[3].info), "is no longer a part of a run");
}

/// The files are kept under another name, and their entries are removed: the list is as if they had never existed.
TEST_F(RunFolderTest, StrikesOutDamagedParts) {
  put_list(0, 4);
  put_list(1, 1);
  fs::remove(folder / "run.part-0000-0002.h5");
  put("run.part-0000-0003.h5.damaged");
  const auto other = text_of("run.part-0001.list");
  const auto work = take_up({{"run.part-0000-0002.h5", "is missing"}, {"run.part-0000-0003.h5", "is damaged"}});
  ASSERT_EQ(work.parts.size(), 3U);
  EXPECT_EQ(work.writers.at(0).next_segment, 4U) << "no name comes twice";
  EXPECT_EQ(files(), (std::set<std::string>{"run.part-0000-0000.h5", "run.part-0000-0001.h5", "run.part-0001-0000.h5",
                                            "run.part-0000-0003.h5.damaged", "run.part-0000-0003.h5.damaged-2",
                                            "run.part-0000.list", "run.part-0001.list"}));
  const auto list = read_part_list(folder / "run.part-0000.list");
  ASSERT_EQ(list.parts.size(), 2U);
  EXPECT_EQ(list.parts[1].info.segment, 1U);
  EXPECT_EQ(list.good_bytes, work.writers.at(0).list.good_bytes);
  EXPECT_EQ(list.chain, work.writers.at(0).list.chain);
  EXPECT_EQ(text_of("run.part-0001.list"), other);
}

TEST_F(RunFolderTest, RefusesADamagedList) {
  put_list(0, 1);
  put_list(1, 3);
  auto text = text_of("run.part-0001.list");
  text[text.find("\"segment\":1")] ^= 1;
  put("run.part-0001.list", text);
  expect_refused("run.part-0001.list");
}

/// Whatever a list contains: a damaged part is renamed, and its name must belong to this run.
TEST_F(RunFolderTest, RefusesNamesThatAreNoParts) {
  for (const char* name : {"../thesis.txt", "/etc/hosts", "thesis.txt", "other.part-0000-0000.h5",
                           "run.part-0000-0000.h5.partial", "../run.part-0000-0000.h5", ""}) {
    fs::remove(folder / "run.part-0000.list");
    FinishedPart part;
    part.info.name = name;
    rewrite_part_list(folder / "run.part-0000.list", std::span(&part, 1));
    expect_refused("is not the name of a part of this run");
  }
}

/// A list was being rewritten.
TEST_F(RunFolderTest, RemovesAnUnfinishedList) {
  for (const bool closed : {false, true}) {
    put("run.part-0000.list.partial", "eventloom-part-list 1\n0123");
    put("run.part-0001.list.partial", "somebody's");
    EXPECT_TRUE(is_name_of_run(run_file(), "run.part-0000.list.partial"));
    if (closed) {
      remove_leftovers(run_file(), {});
    } else {
      EXPECT_TRUE(take_up().writers.empty());
    }
    EXPECT_EQ(files(), std::set<std::string>{"run.part-0001.list.partial"});
  }
}

TEST_F(RunFolderTest, RemovesLeftoversOfAClosedRun) {
  const std::set<std::string> parts = {"run.part-0000-0000.h5", "run.part-0001-0000.h5"};
  const std::set<std::string> others = {"run.h5", "run.merged.h5", "other.h5.partial", "run2.part-0000.list",
                                        "run.part-x.list"};
  auto kept = parts;
  kept.insert(others.begin(), others.end());
  for (const auto& name : kept) put(name);
  for (const char* name : {"run.part-0000.list", "run.part-12345.list", "run.part-0000-0001.h5",
                           "run.part-0002-0000.h5.partial", "run.h5.partial"}) {
    put_own(name);
  }
  put("run.part-0007.list", "somebody's");
  kept.insert("run.part-0007.list");
  remove_leftovers(run_file(), parts);
  EXPECT_EQ(files(), kept);
  const auto before = state();
  remove_leftovers(run_file(), parts);
  EXPECT_EQ(state(), before);
}

TEST_F(RunFolderTest, RemovesTheListsOfAnEarlierRunAndNothingElse) {
  const std::set<std::string> keep = {"run.h5", "run.part-0000-0000.h5", "run.part-000.list", "run2.part-0000.list",
                                      "run.part-0000.h5"};
  const std::set<std::string> old = {"run.part-0000.list", "run.part-0012.list"};
  for (const auto& names : {keep, old}) {
    for (const auto& name : names) put_own(name);
  }
  remove_lists(run_file());
  EXPECT_EQ(files(), keep);
}

TEST_F(RunFolderTest, ScratchFolderIsMadeAndCleared) {
  const auto scratch = folder / "made" / "for it";
  const auto place = scratch_folder(scratch, run_file());
  EXPECT_EQ(place.parent_path(), scratch);
  EXPECT_FALSE(fs::exists(scratch)) << "before it is prepared";
  prepare_scratch(place, run_file());
  ASSERT_TRUE(fs::is_directory(place));
  const auto put_there = [&](const std::string& name) { std::ofstream(place / name) << kInTheMaking; };
  put_there("run.part-0003-0007.h5.partial");
  put_there("run.part-0004-0000.h5.partial");
  put_there("run2.part-0003-0000.h5.partial");
  prepare_scratch(place, run_file());
  EXPECT_FALSE(fs::exists(place / "run.part-0003-0007.h5.partial"));
  EXPECT_FALSE(fs::exists(place / "run.part-0004-0000.h5.partial")) << "of another writer";
  EXPECT_TRUE(fs::exists(place / "run2.part-0003-0000.h5.partial")) << "of another run of the same folder";
}

TEST_F(RunFolderTest, ScratchFoldersOfDifferentFoldersDoNotMeet) {
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  fs::create_directory_symlink(folder / "a", folder / "link");
  const auto of = [&](const char* name) { return scratch_folder(folder / "scratch", folder / name / "run.h5"); };
  EXPECT_NE(of("a"), of("b"));
  EXPECT_EQ(of("a"), of("link")) << "the same folder by another name";
}

TEST_F(RunFolderTest, ScratchThatCannotBeMadeIsAUserError) {
  put("file");
  EXPECT_THROW(prepare_scratch(folder / "file" / "scratch", run_file()), UserError);
}

}  // namespace
}  // namespace eventloom
