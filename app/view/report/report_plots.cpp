#include "app/view/report/report_plots.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/command/safe_text.hpp"
#include "app/view/hist/histogram_plot.hpp"
#include "core/runtime/format.hpp"
#include "formats/channel_text.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::array<std::string_view, 9> kNames = {"rates.png",    "multiplicity.png", "duration.png",
                                                    "interval.png", "latency.png",      "sources.png",
                                                    "channels.png", "ledger.png",       "balance.png"};

/// Begin of the names of histograms of --hist.
constexpr std::string_view kHistogram = "hist-";
constexpr std::size_t kPlotNameColumns = 16;

Plot rates_plot(const Json& series) {
  const auto per = series.at("per").get<std::string>();
  const auto t = series.at("t_s").get<std::vector<double>>();
  Plot plot{"Rates over time", series.at("axis"), "per " + per, false, false, {}};
  plot.series.push_back({"hits", t, series.at("hits_per_s"), PlotStyle::steps});
  plot.series.push_back({"events", t, series.at("events_per_s"), PlotStyle::steps});
  return plot;
}

/// A step for each whole number, centred on it.
PlotSeries steps_at(const std::string& name, const std::vector<double>& numbers, const std::vector<double>& values) {
  PlotSeries series{name, {}, values, PlotStyle::steps};
  for (const double number : numbers) series.x.push_back(number - 0.5);
  if (!numbers.empty()) {
    series.x.push_back(numbers.back() + 0.5);
    series.y.push_back(values.back());
  }
  return series;
}

/// The fit is evaluated at the centres of the bins.
Plot histogram_plot(const Json& histogram) {
  auto edges = histogram.at("edges").get<std::vector<double>>();
  const bool log = histogram.at("log_x");
  std::vector<double> middle;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) middle.push_back((edges[i] + edges[i + 1]) / 2);
  const auto unit = histogram.at("unit").get<std::string>();
  const auto x = histogram.at("x").get<std::string>() + (unit.empty() ? "" : " [" + unit + "]");
  Plot plot{histogram.at("title"), x, "events in a bin", log, true, {}};
  plot.x_from_zero = false;
  plot.whole_x = unit.empty();
  plot.whole_y = true;
  auto counts = histogram.at("counts").get<std::vector<double>>();
  if (!counts.empty()) counts.push_back(counts.back());
  // A step stands on half an entry where a logarithmic axis cannot show none.
  for (double& n : counts) n = std::max(n, 0.5);
  plot.series.push_back({"events", edges, counts, PlotStyle::steps});
  if (histogram.contains("fit")) {
    auto curve = histogram.at("fit").at("curve").get<std::vector<double>>();
    // Smaller values have nothing to be compared with.
    std::ranges::replace_if(
        curve, [](double n) { return n < 0.5; }, 0);
    plot.series.push_back({"exponential", middle, curve, PlotStyle::line});
  }
  return plot;
}

std::string label_of_source(const Json& source) {
  const auto number = std::to_string(source.at("index").get<std::size_t>());
  const auto name = source.value("label", std::string());
  return name.empty() ? number : number + " " + end_of(for_terminal(name), kPlotNameColumns);
}

Plot sources_plot(const Json& sources) {
  Plot plot{"Hits in events, by source", "source", "hits", false, false, {}};
  plot.whole_y = true;
  plot.x_from_zero = false;
  std::vector<double> numbers;
  std::vector<double> hits;
  for (const auto& source : sources) {
    numbers.push_back(source.at("index"));
    hits.push_back(source.at("hits_in_events"));
    plot.x_names.emplace_back(source.at("index"), label_of_source(source));
  }
  plot.series.push_back(steps_at("hits in events", numbers, hits));
  return plot;
}

/// Returns the name of a channel if it distinguishes the channel from the others of its source, or else its source and
/// number.
std::string label_of_channel(const Json& of_source, std::size_t i) {
  const auto names = of_source.value("name", Json::array());
  const auto name = names.empty() ? std::string() : names[i].get<std::string>();
  if (!name.empty() && std::count(names.begin(), names.end(), name) == 1)
    return end_of(for_terminal(name), kPlotNameColumns);
  return of_source.at("source").dump() + ": " + channel_text(of_source.at("channel")[i]);
}

/// Channels side by side, grouped by source.
Plot channels_plot(const Json& channels) {
  Plot plot{
      "Hits in events, by channel", "channels (source: channel), in the order of sources", "hits", false, false, {}};
  plot.whole_y = true;
  plot.x_from_zero = false;
  std::vector<double> places;
  std::vector<double> hits;
  for (const auto& of_source : channels) {
    for (std::size_t i = 0; i < of_source.at("hits").size(); ++i) {
      plot.x_names.emplace_back(static_cast<double>(places.size()), label_of_channel(of_source, i));
      places.push_back(static_cast<double>(places.size()));
      hits.push_back(of_source["hits"][i]);
    }
  }
  plot.series.push_back(steps_at("hits in events", places, hits));
  return plot;
}

Plot ledger_plot(const Json& ledger) {
  double dropped = 0;
  for (const auto& [cause, hits] : ledger.at("dropped").items()) dropped += hits.get<double>();
  std::vector<double> hits;
  for (const char* name : {"hits_in", "hits_in_events", "hits_outside", "hits_rejected"}) {
    hits.push_back(ledger.at(name));
  }
  const auto lost = ledger.at("lost").get<double>();
  hits.insert(hits.end(), {dropped - lost, lost});
  Plot plot{"Ledger", "what became of the hits", "hits", false, false, {steps_at("hits", {1, 2, 3, 4, 5, 6}, hits)}};
  plot.x_from_zero = false;
  plot.whole_y = true;
  plot.x_names = {
      {1, "in"},  {2, "in events"}, {3, "outside events"}, {4, "rejected by filter"}, {5, "removed on request"},
      {6, "lost"}};
  return plot;
}

Plot balance_plot(const Json& balance) {
  const auto builders = balance.at("builders").get<std::vector<double>>();
  Plot plot{"Balance between builders",
            "builder",
            "hits",
            false,
            false,
            {steps_at("hits of a builder", builders, balance.at("hits_of_builder"))}};
  plot.x_from_zero = false;
  plot.whole_y = true;
  for (const double builder : builders) plot.x_names.emplace_back(builder, fmt::format("{}", builder));
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> report_plots(const Json& status, std::span<const HistogramRecord> histograms,
                                                       const ChannelNames& names) {
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
    plots.emplace_back(std::string(kHistogram) + histogram.name + ".png", plot_of(histogram, false, names));
  return plots;
}

bool is_name_of_report_plot(std::string_view name) {
  if (name.ends_with(kPartial)) name.remove_suffix(std::string_view(kPartial).size());
  if (name.starts_with(kHistogram) && name.ends_with(".png")) return true;
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace eventloom
