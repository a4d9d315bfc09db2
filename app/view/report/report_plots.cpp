#include "app/view/report/report_plots.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/view/hist/histogram_plot.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

using Document = nlohmann::json;

constexpr std::array<std::string_view, 9> kNames = {"rates.png",    "multiplicity.png", "duration.png",
                                                    "interval.png", "latency.png",      "sources.png",
                                                    "channels.png", "ledger.png",       "balance.png"};

/// Begin of the names of histograms of --hist.
constexpr std::string_view kHistogram = "hist-";

Plot rates_plot(const Document& series) {
  const auto per = series.at("per").get<std::string>();
  const auto t = series.at("t_s").get<std::vector<double>>();
  Plot plot{"Rates over time", series.at("axis"), "per " + per, false, false, {}};
  plot.series.push_back({"hits", t, series.at("hits_per_s"), PlotStyle::steps});
  plot.series.push_back({"events", t, series.at("events_per_s"), PlotStyle::steps});
  return plot;
}

/// Places points at the centres of their bins.
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
    // Smaller values have nothing to be compared with.
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

/// Channels side by side, grouped by source.
Plot channels_plot(const Document& channels) {
  PlotSeries hits{"hits in events", {}, {}, PlotStyle::points};
  for (const auto& of_source : channels) {
    for (const auto& n : of_source.at("hits")) {
      hits.x.push_back(static_cast<double>(hits.x.size()));
      hits.y.push_back(n);
    }
  }
  return {"Hits in events, by channel", "channels, in the order of sources", "hits", false, false, {std::move(hits)}};
}

Plot ledger_plot(const Document& ledger) {
  double dropped = 0;
  for (const auto& [cause, hits] : ledger.at("dropped").items()) dropped += hits.get<double>();
  PlotSeries hits{"hits", {1, 2, 3, 4, 5}, {}, PlotStyle::points};
  for (const char* name : {"hits_in", "hits_in_events", "hits_outside", "hits_rejected"}) {
    hits.y.push_back(ledger.at(name));
  }
  hits.y.push_back(dropped);
  return {"Ledger", "1 in, of which 2 in events, 3 outside events, 4 rejected by filter, 5 dropped",
          "hits",   false,
          false,    {std::move(hits)}};
}

Plot balance_plot(const Document& balance) {
  return {"Balance between builders",
          "builder",
          "hits",
          false,
          false,
          {{"hits of a builder", balance.at("builders"), balance.at("hits_of_builder"), PlotStyle::points}}};
}

}  // namespace

std::vector<std::pair<std::string, Plot>> report_plots(const Document& status,
                                                       std::span<const HistogramRecord> histograms) {
  std::vector<std::pair<std::string, Plot>> plots;
  plots.emplace_back("rates.png", rates_plot(status.at("series")));
  for (const auto& [name, histogram] : status.at("histograms").items()) {
    plots.emplace_back(name + ".png", histogram_plot(histogram));
  }
  plots.emplace_back("sources.png", sources_plot(status.at("sources")));
  plots.emplace_back("channels.png", channels_plot(status.at("channels")));
  plots.emplace_back("ledger.png", ledger_plot(status.at("ledger")));
  plots.emplace_back("balance.png", balance_plot(status.at("balance")));
  for (const auto& histogram : histograms)
    plots.emplace_back(std::string(kHistogram) + histogram.name + ".png", plot_of(histogram, false));
  return plots;
}

bool is_name_of_report_plot(std::string_view name) {
  if (name.ends_with(kPartial)) name.remove_suffix(std::string_view(kPartial).size());
  if (name.starts_with(kHistogram) && name.ends_with(".png")) return true;
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace eventloom
