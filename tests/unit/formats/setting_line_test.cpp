#include "formats/setting_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eventloom {
namespace {

TEST(SettingLine, KeepsAnyValue) {
  for (const std::string value : {"", "plain", "a = b", " blanks ", "run#5.csv", "two\nlines", "\"quoted\"", "\"",
                                  "a\"b", "\\", "#\\", "#\\n", "\"a\" \"b\"", "\\n", "end\r", "[a]"}) {
    const auto line = setting_line("name", value);
    ASSERT_EQ(line.find('\n'), line.size() - 1) << value;
    const auto setting = read_setting(without_comment(line.substr(0, line.size() - 1)));
    ASSERT_TRUE(setting.has_value()) << value;
    EXPECT_EQ(setting->name, "name");
    EXPECT_EQ(setting->value, value);
  }
  EXPECT_EQ(setting_line("filter", "n_hits>=2"), "filter = n_hits>=2\n");
}

TEST(SettingLine, CommentsBeginOutsideOfQuotes) {
  EXPECT_EQ(without_comment("  builders=2 # two\r"), "builders=2");
  EXPECT_EQ(without_comment("# builders = \"#\""), "");
  EXPECT_EQ(without_comment("a = \"#\" # \"#\""), "a = \"#\"");
  EXPECT_EQ(without_comment("a = \"b\" c # d"), "a = \"b\" c");
  EXPECT_EQ(without_comment("a = \"open # d"), "a = \"open");
}

TEST(SettingLine, OtherLinesAreNoSettings) {
  for (const auto* line : {"", "word", "= value", "# name = value"})
    EXPECT_FALSE(read_setting(line).has_value()) << line;
  EXPECT_EQ(read_setting("command = \"a\" \"b\"")->value, "\"a\" \"b\"");
}

}  // namespace
}  // namespace eventloom
