#include "app/show/event_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "app/show/event_svg.hpp"

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

  [[nodiscard]] std::string text(bool colour = false) const {
    std::ostringstream out;
    print_event(out, view, colour);
    return out.str();
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(EventText, DrawsHitsAtTheirTimes) {
  const auto text = Example().text();
  EXPECT_TRUE(holds(text, "event 3 of 8")) << text;
  EXPECT_TRUE(holds(text, "|1" + std::string(29, '.') + "1" + std::string(29, '.') + "| 2")) << text;
  EXPECT_TRUE(holds(text, "|1" + std::string(58, '.') + "1| 2")) << text;
  EXPECT_TRUE(holds(text, "duration  60ns") && holds(text, "5us (5000 ticks)")) << text;
}

TEST(EventText, TellsEachHitOfAFew) {
  const auto text = Example().text();
  EXPECT_TRUE(holds(text, "            30ns       0           7  -\n")) << text;
  EXPECT_TRUE(holds(text, "            60ns       1           7  0x00000002\n")) << text;
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

TEST(EventSvg, EscapesNamesAndDrawsEachHit) {
  const auto svg = event_svg(Example().view);
  EXPECT_TRUE(svg.starts_with(kSvgBegin));
  EXPECT_FALSE(holds(svg, "<script") || holds(svg, "\x1b") || holds(svg, "\x07")) << svg;
  std::size_t circles = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++circles;
  EXPECT_EQ(circles, 4U);
}

}  // namespace eventloom
