#include "io/event_files/event_target.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/error.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/hld/hld_origin.hpp"

namespace eventloom {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)parse_event_target(text, "--to");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

std::string first_name(const std::string& target, const EventFileRun& run) {
  return make_event_format(parse_event_target(target, "--to"), run)->file_name(0);
}

TEST(EventTarget, PathsAndKeys) {
  const auto lmd = parse_event_target("lmd:/data/built.lmd?size=2GB", "--to");
  EXPECT_FALSE(lmd.hld);
  EXPECT_EQ(lmd.folder, "/data");
  EXPECT_EQ(lmd.stem, "built");
  EXPECT_EQ(lmd.most_bytes, 2'000'000'000U);
  const auto hld = parse_event_target("hld:x.y?run=9&ebnumber=4", "--to");
  EXPECT_TRUE(hld.hld);
  EXPECT_EQ(hld.folder, "");
  EXPECT_EQ(hld.stem, "x.y");
  EXPECT_EQ(hld.most_bytes, 0U);
  EXPECT_EQ(hld.run, 9U);
  EXPECT_EQ(hld.builder, 4U);
  EXPECT_TRUE(hld.triggers.empty());
  const auto spills = parse_event_target("lmd:x?begin=12,14&end=65535", "--to");
  EXPECT_EQ(spills.triggers.begin, (std::vector<std::uint32_t>{12, 14}));
  EXPECT_EQ(spills.triggers.end, (std::vector<std::uint32_t>{65535}));
  EXPECT_EQ(parse_event_target("lmd:a.hld", "--to").stem, "a.hld");
}

TEST(EventTarget, MistakesAreNamed) {
  for (const auto& [text, words] : {std::pair{"out.lmd", "--to 'out.lmd': use lmd:PATH or hld:PATH"},
                                    {"csv:out", "use lmd:PATH or hld:PATH"},
                                    {"lmd:", "the beginning of a file's name"},
                                    {"lmd:folder/", "the beginning of a file's name"},
                                    {"lmd:x?siz=1GB", "unknown key 'siz' (did you mean 'size'?)"},
                                    {"lmd:x?run=3", "unknown key 'run'"},
                                    {"lmd:x?size=2 giga", "a number of bytes"},
                                    {"lmd:x?size=1000", "at least 64KiB"},
                                    {"hld:x?begin=16", "begin=: '16' is no trigger type, a whole number from 0 to 15"},
                                    {"lmd:x?end=", "end=: '' is no trigger type, a whole number from 0 to 65535"},
                                    {"lmd:x?end=15,", "end=: '' is no trigger type"},
                                    {"hld:x?run=-1", "'run' must be a whole number"},
                                    {"hld:x?ebnumber=100", "'ebnumber' must be a whole number from 0 to 99"}}) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(EventTarget, NamesOfSeveralWritersDiffer) {
  const EventFileRun run{{}, 1000, false, {}, 0};
  const auto name = [&](const char* target, std::uint32_t writer, std::uint32_t writers) {
    return make_event_format(target_of_writer(parse_event_target(target, "--also"), writer, writers), run)
        ->file_name(0);
  };
  EXPECT_EQ(name("lmd:x", 0, 1), "x_0000.lmd") << "as if there were no writers";
  EXPECT_EQ(name("lmd:x", 0, 2), "x_w00_0000.lmd");
  EXPECT_EQ(name("lmd:x", 123, 200), "x_w123_0000.lmd");
  EXPECT_EQ(name("hld:x?ebnumber=3", 0, 1), "x0801021200003.hld");
  EXPECT_EQ(name("hld:x", 0, 2), "x0801021200001.hld");
  EXPECT_EQ(name("hld:x", 1, 2), "x0801021200002.hld");
  EXPECT_EQ(name("hld:x?ebnumber=3", 1, 2), "x0801021200004.hld");
}

/// Run numbers in order of precedence.
TEST(EventTarget, RunNumbersOfHld) {
  const auto description = [](std::uint32_t run) {
    return "hld:x\n" + std::string(hld_subevent_rule()) + hld_origin_text(run);
  };
  EventFileRun run{{description(60), description(60), "other"}, 1000, true, {}, 1'200'000'120};
  EXPECT_EQ(first_name("hld:x?run=3600", run), "x08010222000.hld");
  EXPECT_EQ(first_name("hld:x", run), "x08010212100.hld") << "that of the sources";
  run.descriptions[1] = description(61);
  EXPECT_EQ(first_name("hld:x", run), "x08010212200.hld") << "they disagree: the time when the run began";
  run.descriptions = {"other"};
  EXPECT_EQ(first_name("hld:x", run), "x08010212200.hld");
  run.began_s = 0;
  EXPECT_EQ(first_name("hld:x", run), "x08010212000.hld");
}

}  // namespace
}  // namespace eventloom
