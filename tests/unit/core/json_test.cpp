#include "core/runtime/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace eventloom {
namespace {

TEST(Json, ListsOfPairsThatBeginWithATextAreObjectsAndOthersArrays) {
  const Json json = {{"b", 1}, {"a", {{"x", true}}}, {"list", {1, "two", nullptr}}, {"pairs", {{1, 2}, {3, 4}}}};
  EXPECT_EQ(json.dump(), R"({"b":1,"a":{"x":true},"list":[1,"two",null],"pairs":[[1,2],[3,4]]})");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json::object().dump(), "{}");
  EXPECT_EQ(Json().dump(), "null");
}

TEST(Json, TakesContainersAndGivesThemBack) {
  using ByName = std::map<std::string, std::vector<int>>;
  const ByName by_name = {{"a", {1, 2}}, {"b", {}}};
  EXPECT_EQ(Json(by_name).dump(), R"({"a":[1,2],"b":[]})");
  EXPECT_EQ(Json(by_name).get<ByName>(), by_name);
  const std::map<std::uint32_t, std::array<std::uint64_t, 2>> by_number = {{7, {1, 2}}};
  EXPECT_EQ(Json(by_number).dump(), "[[7,[1,2]]]");
  EXPECT_EQ((Json(by_number).get<std::map<std::uint32_t, std::array<std::uint64_t, 2>>>()), by_number);
  EXPECT_THROW(static_cast<void>(Json({1, 2, 3}).get<std::array<int, 2>>()), JsonError);
}

TEST(Json, NumbersAreExact) {
  const auto same = [](const char* text) { return Json::parse(text).dump() == text; };
  for (const char* text : {"0", "-1", "18446744073709551615", "-9223372036854775808", "0.1", "1e+300", "-2.5", "1.0"}) {
    EXPECT_TRUE(same(text)) << text << " became " << Json::parse(text).dump();
  }
  EXPECT_EQ(Json::parse("18446744073709551615").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Json::parse("18446744073709551616").get<double>(), 0x1p64);
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  EXPECT_TRUE(Json(1) == Json(1U) && Json(1) == Json(1.0) && Json(-1) != Json(~std::uint64_t{0}));
}

TEST(Json, RefusesNumbersThatTheTypeCannotHold) {
  EXPECT_EQ(Json(255).get<std::uint8_t>(), 255);
  EXPECT_THROW(static_cast<void>(Json(256).get<std::uint8_t>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(-1).get<std::uint64_t>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(~std::uint64_t{0}).get<std::int64_t>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(2.5).get<int>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(1e30).get<std::uint64_t>()), JsonError);
  EXPECT_EQ(Json(3.0).get<int>(), 3);
  EXPECT_EQ(Json(-3).get<int>(), -3);
  EXPECT_THROW(static_cast<void>(Json(true).get<int>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json("1").get<int>()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(1).get<std::string>()), JsonError);
}

TEST(Json, RefusesWhatIsNoJsonOrNestedTooDeeplyOrSaidTwice) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "nul", "'a'", "01", "\"\xff\""}) {
    EXPECT_THROW(Json::parse(text), JsonError) << text;
    EXPECT_TRUE(Json::try_parse(text).is_null()) << text;
  }
  const std::string deepest = std::string(Json::kMostDepth, '[') + std::string(Json::kMostDepth, ']');
  EXPECT_EQ(Json::parse(deepest).dump(), deepest);
  EXPECT_THROW(Json::parse("[" + deepest + "]"), JsonError);
  EXPECT_THROW(Json::parse(std::string(1000000, '[')), JsonError);
  EXPECT_THROW(Json::parse(R"([{"a":1,"b":{"a":2},"a":3}])"), JsonKeyTwice);
  EXPECT_EQ(Json::parse(R"([{"a":1},{"a":{"a":2}}])").at(1).at("a").at("a"), 2);
}

TEST(Json, ReadsManyMembers) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  EXPECT_EQ(Json::parse(text + "}").size(), 100'000U);
  EXPECT_THROW(Json::parse(text + ",\"k7\":0}"), JsonKeyTwice);
}

TEST(Json, MessagesKeepBytesAndTextReplacesThem) {
  const Json json = {{"name", "\xff/run"}, {"n", -5}, {"x", 0.5}};
  EXPECT_EQ(Json::from_msgpack(json.to_msgpack()), json);
  EXPECT_EQ(Json::from_msgpack(json.to_msgpack()).at("name"), "\xff/run");
  EXPECT_EQ(json.dump(), "{\"name\":\"\xef\xbf\xbd/run\",\"n\":-5,\"x\":0.5}");
  EXPECT_EQ(Json("\xc3\xa9").dump(-1, true), R"("\u00e9")");
  EXPECT_THROW(Json::from_msgpack("\xc1"), JsonError);
}

TEST(Json, MembersAreAddedFoundAndRemoved) {
  Json json;
  json["b"]["c"] = 1;
  json["a"] = "x";
  EXPECT_EQ(json.dump(), R"({"b":{"c":1},"a":"x"})");
  json.update({{"a", 2}, {"d", {1, {{"e", 3}}}}});
  EXPECT_EQ(json.value("a", 0), 2);
  EXPECT_EQ(json.value("z", "none"), "none");
  ASSERT_NE(json.at_path("/d/1/e"), nullptr);
  EXPECT_EQ(*json.at_path("/d/1/e"), 3);
  for (const char* path : {"/d/2", "/d/x", "/d/1/f", "/a/b"}) EXPECT_EQ(json.at_path(path), nullptr) << path;
  json.erase("b");
  EXPECT_FALSE(json.contains("b"));
  EXPECT_THROW(static_cast<void>(json.at("b")), JsonError);
  EXPECT_THROW(json["a"]["b"], JsonError);
  EXPECT_THROW(json.push_back(1), JsonError);
  EXPECT_EQ(Json::parse(R"({"x":1,"y":[2]})"), Json::parse(R"({"y":[2],"x":1})"));
}

TEST(Json, MembersStayWhereTheyAre) {
  Json json;
  auto& first = json["first"];
  for (int i = 0; i < 100; ++i) json[std::to_string(i)] = i;
  first["a"] = 1;
  EXPECT_EQ(json["first"].dump(), R"({"a":1})");
}

TEST(Json, APartMayReplaceItsWhole) {
  Json json = {{"a", {1, 2, 3}}};
  json = std::move(json["a"]);
  EXPECT_EQ(json.dump(), "[1,2,3]");
  std::vector<int> numbers;
  for (auto& element : json) {
    element = element.get<int>() + 1;
    numbers.push_back(element);
  }
  EXPECT_EQ(numbers, (std::vector<int>{2, 3, 4}));
}

}  // namespace
}  // namespace eventloom
