#include "app/view/report/report_plots.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace eventloom {
namespace {

TEST(ReportPlots, HaveTheNumbersOfThePage) {
  const auto status = Json::parse(R"({
    "series": {"per": "s", "axis": "time", "t_s": [1, 2], "hits_per_s": [10, 20], "events_per_s": [1, 2]},
    "histograms": {}, "sources": [{"index": 0, "hits_in_events": 7, "label": "clover"}],
    "channels": [{"source": 0, "channel": [5, 9], "hits": [3, 4], "name": ["", "Ge 9"]}, {"source": 2, "channel": [5], "hits": [8]}],
    "ledger": {"hits_in": 30, "hits_in_events": 15, "hits_outside": 9, "hits_rejected": 1,
               "dropped": {"corrupt": 2, "masked": 4, "late": 3}, "lost": 5},
    "balance": {"builders": [0, 3], "hits_of_builder": [12, 18], "slices_of_builder": [1, 1]}})");
  std::map<std::string, PlotSeries> first;
  std::map<std::string, PlotNames> names;
  const std::vector<HistogramRecord> histograms = {{"spectrum", "", {{"value(A)", "keV", {0, 5, 10}}}, {4, 6}, 1, 2}};
  for (const auto& [name, plot] : report_plots(status, histograms)) {
    first[name] = plot.series.front();
    names[name] = plot.x_names;
    EXPECT_TRUE(is_name_of_report_plot(name)) << name << " would be in the way of the next report";
  }
  using Numbers = std::vector<double>;
  EXPECT_EQ(first["channels.png"].x, (Numbers{-0.5, 0.5, 1.5, 2.5}));
  EXPECT_EQ(first["channels.png"].y, (Numbers{3, 4, 8, 8}));
  EXPECT_EQ(first["ledger.png"].y, (Numbers{30, 15, 9, 1, 4, 5, 5}));
  EXPECT_EQ(first["balance.png"].x, (Numbers{-0.5, 2.5, 3.5}));
  EXPECT_EQ(first["balance.png"].y, (Numbers{12, 18, 18}));
  EXPECT_EQ(names["sources.png"], (PlotNames{{0, "0 clover"}}));
  EXPECT_EQ(names["channels.png"], (PlotNames{{0, "0: 5"}, {1, "Ge 9"}, {2, "2: 5"}}));
  EXPECT_EQ(first["hist-spectrum.png"].x, (Numbers{0, 5, 10}));
  EXPECT_EQ(first["hist-spectrum.png"].y, (Numbers{4, 6, 6}));
}

}  // namespace
}  // namespace eventloom
