#include "app/observe/page/page.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

constexpr const char* kBegin = "<script type=\"application/json\" id=\"document\">";

std::string inside(const std::string& page) {
  const auto begin = page.find(kBegin) + std::string(kBegin).size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

}  // namespace

TEST(Page, OfTheMonitorHoldsNoDocument) {
  const auto page = page_for_monitor();
  EXPECT_TRUE(page.starts_with(kPageBegin));
  EXPECT_EQ(inside(page), "null");
  EXPECT_EQ(page.find('@' + std::string("script")), std::string::npos) << "every place is filled";
}

TEST(Page, GivesTheDocumentBack) {
  const Json status = {{"kind", "report"}, {"names", {"</script><script>alert(1)</script>", "\u2028<!--", "µ"}}};
  const auto page = page_with(status);
  EXPECT_EQ(Json::parse(inside(page)), status);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
}

TEST(Page, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Json::parse(inside(page_with({{"name", "a\xff"}}))).at("name"), "a\xef\xbf\xbd");
}

}  // namespace eventloom
