#include "io/uri/source_uri.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/runtime/error.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {
namespace {

TEST(SourceUri, IsTakenApart) {
  const auto uri = parse_source_uri("csv:a/b.csv?time=2&channel=1&unit=ms");
  EXPECT_EQ(uri.scheme(), "csv");
  EXPECT_EQ(uri.path(), "a/b.csv");
  EXPECT_EQ(uri.require("time"), "2");
  EXPECT_EQ(uri.get("skip", "0"), "0");
  EXPECT_EQ(to_ticks({1, 0}, uri.get_unit("unit", 1000).ps, 1, Rounding::none), Tick(1'000'000'000U));
  EXPECT_EQ(parse_source_uri("x/y.epochs").scheme(), "file");
}

TEST(SourceUri, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(parse_source_uri("ftp:x"), UserError);
  EXPECT_THROW(parse_source_uri("run.root"), UserError);
  EXPECT_THROW(parse_source_uri("csv:"), UserError);
  EXPECT_THROW(parse_source_uri("csv:x?time"), UserError);
  EXPECT_THROW(parse_source_uri("csv:x?tome=1"), UserError);
  EXPECT_THROW(parse_source_uri("spikes:x?unit=ns"), UserError);
  EXPECT_THROW(parse_source_uri("packed:x?record=4&group=a"), UserError);
  EXPECT_THROW(parse_source_uri("hld:x?colour=red"), UserError);
  EXPECT_THROW(parse_source_uri("lmd:x?colour=red"), UserError);
  EXPECT_THROW(parse_source_uri("udp://:7000?source=3"), UserError);
  EXPECT_THROW((void)parse_source_uri("csv:x?unit=d").get_unit("unit", 1), UserError);
  EXPECT_THROW((void)parse_source_uri("csv:x?skip=-1").get_count("skip", 0, 0, 10), UserError);
}

TEST(SourceUri, RefusesAKeyThatIsGivenTwice) {
  for (const std::string uri : {"csv:x?time=1&time=2", "csv:x?time=1&channel=2&time=1", "hld:x?tdc&tdc=1"}) {
    try {
      (void)parse_source_uri(uri);
      ADD_FAILURE() << uri;
    } catch (const UserError& e) {
      EXPECT_TRUE(std::string(e.what()).ends_with("' is given twice")) << e.what();
    }
  }
}

/// `date +%s` of 2026-11-21T10:00:00Z prints 1795255200.
TEST(StatedOrigin, IsUtcOfATableAndShifted) {
  const auto origin = [](const std::string& uri, std::uint64_t tick_ps = 1000) {
    return stated_origin(SourceUri::parse(uri), tick_ps);
  };
  constexpr std::int64_t kTime = 1'795'255'200'000'000'000;
  EXPECT_EQ(origin("csv:x?origin=2026-11-21T10:00:00Z"), kTime);
  EXPECT_EQ(origin("hdf5:x?origin=2026-11-21T10:00:00Z"), kTime);
  EXPECT_EQ(origin("csv:x?origin=2026-11-21T11:00:00.000000001+01:00"), kTime + 1);
  EXPECT_EQ(origin("csv:x?origin=1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(origin("csv:x?origin=2026-11-21T10:00:00Z&offset=60s"), kTime - 60'000'000'000);
  EXPECT_EQ(origin("csv:x?origin=2026-11-21T10:00:00Z&offset=-3", 4000), kTime + 12);
  for (const std::string silent : {"csv:x", "csv:x?origin=-5ms", "csv:x?origin=2026-11-21T10:00:00.0000000001Z",
                                   "csv:x?origin=1066-10-14T09:00:00Z", "hdf5:x?origin=-5ms"}) {
    EXPECT_EQ(origin(silent), std::nullopt) << silent;
  }
  EXPECT_EQ(origin("csv:x?origin=2026-11-21T10:00:00Z&offset=1", 1), std::nullopt);
}

TEST(SourceUri, KeysThatStandAloneReadAsTheyAreWritten) {
  const auto uri = parse_source_uri("hld:x?tdc&time=tdc");
  EXPECT_TRUE(uri.has("tdc"));
  EXPECT_EQ(uri.get("tdc", "no"), "");
  EXPECT_EQ(uri.text(), "hld:x?tdc&time=tdc");
  EXPECT_EQ(parse_source_uri("csv:x?payload=").text(), "csv:x?payload=");
}

TEST(SourceUriOfPath, IsThePathAsItIs) {
  const auto uri = SourceUri::of_path("lmd", "x:a?b&c=d.lmd");
  EXPECT_EQ(uri.scheme(), "lmd");
  EXPECT_EQ(uri.path(), "x:a?b&c=d.lmd");
  EXPECT_FALSE(uri.has("c"));
  EXPECT_EQ(uri.text(), "lmd:x:a%3Fb&c=d.lmd");
  EXPECT_EQ(SourceUri::parse(uri.text()).path(), uri.path());
}

TEST(SourceUri, QuotedCharactersReadBack) {
  const auto uri = SourceUri::parse("hdf5:a%3f%25.h5?group=/R%26D&payload=E%2C%20keV,%2526,50%&flag");
  EXPECT_EQ(uri.path(), "a?%.h5");
  EXPECT_EQ(uri.get("group", ""), "/R&D");
  EXPECT_EQ(uri.get_list("payload"), (std::vector<std::string>{"E, keV", "%26", "50%"}));
  EXPECT_TRUE(uri.get_list("none").empty());
  EXPECT_EQ(uri.with("group", "/a&b%41c%").get("group", ""), "/a&b%41c%");
  EXPECT_EQ(SourceUri::parse(uri.with("group", "/a&b%41c%").text()).get("group", ""), "/a&b%41c%");
  for (const std::string& text : {uri.text(), uri.with_path("x?%20&").text()})
    EXPECT_EQ(SourceUri::parse(text).text(), text);
}

TEST(SourceUri, ListsOfOneEmptyItem) {
  EXPECT_TRUE(SourceUri::parse("csv:x?payload=").get_list("payload").empty());
  EXPECT_EQ(SourceUri::parse("csv:x?payload=,a").get_list("payload"), (std::vector<std::string>{"", "a"}));
}

/// Each scheme has one way to open it and a unique name.
TEST(SourceSchemes, EachRowIsWhole) {
  std::set<std::string_view> names;
  for (const auto& scheme : source_schemes()) {
    EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    EXPECT_TRUE(scheme.form.starts_with(std::string(scheme.name) + ":")) << scheme.name;
    EXPECT_EQ((scheme.read != nullptr) + (scheme.stream != nullptr) + (scheme.feed != nullptr), 1) << scheme.name;
    EXPECT_EQ(find_scheme(scheme.name), &scheme);
    EXPECT_TRUE(scheme.recognise == nullptr || scheme.inspect != nullptr) << scheme.name;
    for (const auto ending : scheme.endings) {
      EXPECT_TRUE(ending.empty() || parse_source_uri("x" + std::string(ending)).scheme() == scheme.name) << ending;
    }
  }
}

}  // namespace
}  // namespace eventloom
