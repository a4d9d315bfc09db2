#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {
namespace {

using Uris = std::vector<std::string>;

std::vector<std::uint32_t> homes_of(const std::vector<SourceSpec>& specs) {
  std::vector<std::uint32_t> homes;
  for (const auto& spec : specs) homes.push_back(spec.home);
  return homes;
}

std::vector<std::uint32_t> boards_of(const std::vector<SourceSpec>& specs) {
  std::vector<std::uint32_t> boards;
  for (const auto& spec : specs) boards.push_back(spec.board);
  return boards;
}

TEST(LiveUri, IsReadWithItsAddress) {
  const auto mbs = parse_source_uri("mbs://r4l-1:6000/transport?time=wr");
  EXPECT_EQ(mbs.scheme(), "mbs");
  EXPECT_EQ(mbs.path(), "//r4l-1:6000/transport");
  EXPECT_EQ(mbs.get("time", ""), "wr");
  const auto udp = parse_source_uri("udp://[::1]:9000?sources=3,5&payload=2");
  EXPECT_EQ(udp.scheme(), "udp");
  EXPECT_EQ(udp.path(), "//[::1]:9000");
  EXPECT_EQ(udp.get("sources", ""), "3,5");
  EXPECT_EQ(udp.get_count("payload", 0, 0, 255), 2U);
  EXPECT_EQ(parse_source_uri("udp://:9000").path(), "//:9000");
}

TEST(LiveUri, IsTheSameWhenItsTextIsReadAgain) {
  for (const char* text : {"udp://[::1]:9000?payload=2&sources=3,5", "mbs://host/stream?time=tag", "udp://:9000"}) {
    const auto uri = parse_source_uri(text);
    EXPECT_EQ(uri.text(), text);
    EXPECT_EQ(parse_source_uri(uri.text()).text(), uri.text());
  }
}

TEST(LiveUri, IsLiveByItsScheme) {
  EXPECT_TRUE(is_live(parse_source_uri("udp://:9000")));
  EXPECT_TRUE(is_live(parse_source_uri("mbs://host/transport")));
  EXPECT_FALSE(is_live(parse_source_uri("file:udp.epochs")));
  EXPECT_FALSE(is_live(parse_source_uri("lmd:mbs.lmd")));
}

/// Boards of one port are separate sources, in the order in which they are named, opened where the first one is.
TEST(ExpandLiveSources, APortOfSeveralBoards) {
  const auto specs = expand_sources(Uris{"file:a.epochs", "udp://:9000?sources=7,3,5", "mbs://host/transport",
                                         "udp://:9001", "udp://:9002?sources=1,2"});
  ASSERT_EQ(specs.size(), 8U);
  EXPECT_EQ(homes_of(specs), (std::vector<std::uint32_t>{0, 1, 1, 1, 4, 5, 6, 6}));
  EXPECT_EQ(boards_of(specs), (std::vector<std::uint32_t>{0, 0, 1, 2, 0, 0, 0, 1}));
  for (std::size_t s = 1; s <= 3; ++s) EXPECT_EQ(specs[s].uri.path(), "//:9000");
}

/// What looks like a glob is not one: no files are searched.
TEST(ExpandLiveSources, AddressesAreNoGlobs) {
  const auto specs = expand_sources(Uris{"udp://[::1]:9000", "mbs://[::1]:6000/stream"});
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].uri.path(), "//[::1]:9000");
  EXPECT_EQ(specs[1].uri.path(), "//[::1]:6000/stream");
  EXPECT_EQ(homes_of(specs), (std::vector<std::uint32_t>{0, 1}));
}

TEST(ExpandLiveSources, OnePortTwiceIsRefused) {
  EXPECT_THROW(expand_sources(Uris{"udp://:9000?sources=1", "udp://:9000?sources=2"}), UserError);
  EXPECT_THROW(expand_sources(Uris{"udp://:9000", "file:a.epochs", "udp://:9000"}), UserError);
  EXPECT_NO_THROW(expand_sources(Uris{"udp://:9000", "udp://:9001"}));
}

TEST(ExpandLiveSources, OneServerMayBeAskedTwice) {
  EXPECT_EQ(expand_sources(Uris{"mbs://host/transport", "mbs://host/stream"}).size(), 2U);
}

}  // namespace
}  // namespace eventloom
