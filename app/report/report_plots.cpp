#include "app/report/report_plots.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

using Document = nlohmann::json;

constexpr std::array<std::string_view, 6> kNames = {"rates.png",    "multiplicity.png", "duration.png",
                                                    "interval.png", "latency.png",      "sources.png"};

Plot rates_plot(const Document& series) {
  const auto per = series.at("per").get<std::string>();
  const auto t = series.at("t_s").get<std::vector<double>>();
  Plot plot{"Rates over time", series.at("axis"), "per " + per, false, false, {}};
  plot.series.push_back({"hits", t, series.at("hits_per_s"), PlotStyle::steps});
  plot.series.push_back({"events", t, series.at("events_per_s"), PlotStyle::steps});
  return plot;
}

/// Points in the middle of their bins.
Plot histogram_plot(const Document& histogram) {
  const auto edges = histogram.at("edges").get<std::vector<double>>();
  const bool log = histogram.at("log_x");
  std::vector<double> middle;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) middle.push_back((edges[i] + edges[i + 1]) / 2);
  const auto unit = histogram.at("unit").get<std::string>();
  const auto x = histogram.at("x").get<std::string>() + (unit.empty() ? "" : " [" + unit + "]");
  Plot plot{histogram.at("title"), x, "events in a bin", log, true, {}};
  plot.series.push_back({"events", middle, histogram.at("counts"), PlotStyle::points});
  if (histogram.contains("fit")) {
    auto curve = histogram.at("fit").at("curve").get<std::vector<double>>();
    // Beyond, there is nothing to compare it with.
    std::ranges::replace_if(
        curve, [](double n) { return n < 0.5; }, 0);
    plot.series.push_back({"exponential", middle, curve, PlotStyle::line});
  }
  return plot;
}

Plot sources_plot(const Document& sources) {
  Plot plot{"Hits in events, by source", "number of the source", "hits", false, false, {}};
  PlotSeries hits{"hits in events", {}, {}, PlotStyle::points};
  for (const auto& source : sources) {
    hits.x.push_back(source.at("index"));
    hits.y.push_back(source.at("hits_in_events"));
  }
  plot.series.push_back(std::move(hits));
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> report_plots(const Document& status) {
  std::vector<std::pair<std::string, Plot>> plots;
  plots.emplace_back("rates.png", rates_plot(status.at("series")));
  for (const auto& [name, histogram] : status.at("histograms").items()) {
    plots.emplace_back(name + ".png", histogram_plot(histogram));
  }
  plots.emplace_back("sources.png", sources_plot(status.at("sources")));
  return plots;
}

bool is_name_of_report_plot(std::string_view name) {
  if (name.ends_with(kPartial)) name.remove_suffix(std::string_view(kPartial).size());
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace eventloom
