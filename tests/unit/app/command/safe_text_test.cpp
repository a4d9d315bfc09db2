#include "app/command/safe_text.hpp"

#include <gtest/gtest.h>

#include "app/command/utf8.hpp"

namespace eventloom {

TEST(SafeText, KeepsWhatCanBeSeen) {
  for (const char* text : {"", "dom_808.epochs", "Zähler µ 光子 🛰", "a b"}) EXPECT_EQ(for_terminal(text), text);
}

TEST(SafeText, ShowsControlCharactersAsNumbers) {
  EXPECT_EQ(for_terminal("\x1b[31mred\x07\n"), "\\x1b[31mred\\x07\\x0a");
  EXPECT_EQ(for_terminal("\x7f"), "\\x7f");
  EXPECT_EQ(for_terminal("\xc2\x9b"), "\\xc2\\x9b") << "C1: begins a sequence, too";
  EXPECT_EQ(for_terminal("a\xe2\x80\xae"
                         "b"),
            "a\\xe2\\x80\\xae"
            "b")
      << "turns the direction of text";
  EXPECT_EQ(for_terminal("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "ends a line";
}

TEST(SafeText, ShowsBytesThatAreNotUtf8AsNumbers) {
  EXPECT_EQ(for_terminal("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(for_terminal("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(for_terminal("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(for_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(for_terminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Utf8, HasOneFormOfEachCharacter) {
  for (const char* text : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x92\xa1"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\xff", "a\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xa9"}) {
    EXPECT_FALSE(is_utf8(text)) << for_terminal(text);
  }
}

TEST(SafeText, KeepsLines) {
  EXPECT_EQ(lines_for_terminal("a\x1b\n\nb"), "a\\x1b\n\nb");
  EXPECT_EQ(lines_for_terminal("a\n"), "a\n");
}

TEST(SafeText, EscapesMarkup) {
  EXPECT_EQ(for_xml("<a href='x'>\"&\x01"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\\x01");
}

TEST(SafeText, CountsCharacters) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("µµ"), 2U);
}

TEST(SafeText, LeavesTheEndOfLongText) {
  EXPECT_EQ(end_of("µbcdef", 6), "µbcdef");
  EXPECT_EQ(end_of("abcµef", 5), "...ef");
  EXPECT_EQ(end_of("abcdµf", 5), "...µf");
  EXPECT_EQ(beginning_of("µbcdef", 6), "µbcdef");
  EXPECT_EQ(beginning_of("abµdef", 5), "ab...");
  EXPECT_EQ(beginning_of("aµcdef", 5), "aµ...");
}

}  // namespace eventloom
