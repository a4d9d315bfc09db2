#include "app/view/show/event_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "app/view/show/event_svg.hpp"

namespace eventloom {

namespace {

struct Example {
  RunRecord record;
  EventView view;

  Example() {
    record.sources = {{"a", "", {}, 0, ""}, {"\x1b]0;evil\x07<script>", "", {}, 1, ""}};
    view.record = &record;
    view.number = 3;
    view.of = 8;
    view.event = {5000, 60, 4, 2, 0, 0, {}};
    view.event.hits = {{5000, 7, 0, {1}}, {5000, 8, 1, {4}}, {5030, 7, 0, {}}, {5060, 7, 1, {2}}};
  }

  /// Names channel 7 of source 0 and places it at x = 1 m; puts channel 8 of source 1 into these groups, at x = 3 m.
  void map(const std::string& name, const std::string& groups) {
    DetectorRecord detector;
    detector.map = "a text";
    detector.ranges.push_back({0, 7, 7, 0, false, 0, 0xffffffff, "", name, {1, 5, -20}});
    detector.ranges.push_back({1, 8, 8, 0, false, 0, 0xffffffff, groups, "", {3, 5, -10}});
    view.known = KnownChannels(detector);
  }

  [[nodiscard]] std::string text(bool colour = false) const {
    std::ostringstream out;
    print_event(out, view, colour);
    return out.str();
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST(EventText, DrawsHitsAtTheirTimes) {
  const auto text = Example().text();
  EXPECT_TRUE(holds(text, "event 3 of 8")) << text;
  EXPECT_TRUE(holds(text, "|1" + std::string(29, '.') + "1" + std::string(29, '.') + "| 2")) << text;
  EXPECT_TRUE(holds(text, "|1" + std::string(58, '.') + "1| 2")) << text;
  EXPECT_TRUE(holds(text, "duration  60ns") && holds(text, "5us (5000 ticks)")) << text;
}

TEST(EventText, ListsEachHitOfAFew) {
  const auto text = Example().text();
  EXPECT_TRUE(holds(text, "            30ns       0            7  -\n")) << text;
  EXPECT_TRUE(holds(text, "            60ns       1            7  0x00000002\n")) << text;
}

TEST(EventText, ChannelsAreRowsWhenAskedFor) {
  Example example;
  example.view.rows = ShowRows::channels;
  const auto text = example.text();
  EXPECT_TRUE(holds(text, "source 1 channel 8 |1")) << text;
}

TEST(EventText, LetsNoNameActOnTheTerminal) {
  const auto text = Example().text();
  EXPECT_FALSE(holds(text, "\x1b")) << text;
  EXPECT_TRUE(holds(text, "\\x1b]0;evil\\x07")) << text;
  EXPECT_TRUE(holds(Example().text(true), "\x1b[34m"));
}

TEST(EventText, HasNamesAndGroupsWhereTheMapHasAny) {
  Example example;
  example.map("PMT", "A;B");
  EXPECT_TRUE(holds(example.text(), "   channel  name  groups  payload words\n")) << example.text();
  EXPECT_TRUE(holds(example.text(), "       0            7  PMT   -       0x00000001\n")) << example.text();
  EXPECT_TRUE(holds(example.text(), "       1            8  -     A;B     0x00000004\n")) << example.text();
  EXPECT_TRUE(holds(example.text(), "       1            7  -     -       0x00000002\n")) << example.text();
  example.map("", "A");
  EXPECT_TRUE(holds(example.text(), "   channel  groups  payload words\n")) << example.text();
  example.map("\x1b[2J", "");
  EXPECT_TRUE(holds(example.text(), "           7  \\x1b[2J  ")) << example.text();
  EXPECT_FALSE(holds(example.text(), "\x1b"));
}

TEST(EventSvg, EscapesNamesAndDrawsEachHit) {
  const auto svg = event_svg(Example().view);
  EXPECT_TRUE(svg.starts_with(kSvgBegin));
  EXPECT_FALSE(holds(svg, "<script") || holds(svg, "\x1b") || holds(svg, "\x07")) << svg;
  EXPECT_EQ(count_of(svg, "<circle"), 4U);
}

TEST(EventSvg, EscapesNamesOfChannelsAndGroups) {
  Example example;
  example.map("</text><script>\x1b", "\"><script>");
  for (const auto rows : {ShowRows::sources, ShowRows::channels}) {
    example.view.rows = rows;
    const auto svg = event_svg(example.view);
    EXPECT_FALSE(holds(svg, "<script") || holds(svg, "\x1b")) << svg;
    EXPECT_TRUE(holds(svg, "&quot;&gt;&lt;script&gt;</text>")) << "the legend: " << svg;
  }
}

TEST(EventSvg, DrawsHitsThatHavePositionsInBothViews) {
  Example example;
  example.map("PMT", "");
  const auto svg = event_svg(example.view);
  EXPECT_EQ(count_of(svg, "<circle"), 4U + 2 * 3U);
  EXPECT_TRUE(holds(svg, "1 hit without a position")) << svg;
  EXPECT_FALSE(holds(svg, "nan") || holds(svg, "inf")) << svg;
}

/// Whatever a file contains, the picture is finite and holds no invalid number.
TEST(EventSvg, DrawsPositionsOfAnySize) {
  for (const double far : {1e-300, 1e9, 1e12, 1e300, std::numeric_limits<double>::infinity()}) {
    Example example;
    DetectorRecord detector;
    detector.map = "a text";
    detector.ranges.push_back({0, 7, 7, 0, false, 0, 0xffffffff, "", "", {far, far, -far}});
    detector.ranges.push_back({1, 7, 8, 0, false, 0, 0xffffffff, "", "", {std::nextafter(far, 0.0), far, 0}});
    example.view.known = KnownChannels(detector);
    const auto svg = event_svg(example.view);
    EXPECT_FALSE(holds(svg, "nan") || holds(svg, "inf")) << svg;
    EXPECT_LT(svg.size(), 20'000U);
  }
}

}  // namespace eventloom
