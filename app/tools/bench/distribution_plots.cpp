#include "app/tools/bench/distribution_plots.hpp"

#include <algorithm>
#include <string_view>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

PlotSeries longer_than(const std::string& name, const LatencyHistogram& times) {
  PlotSeries line{name, {}, {}, PlotStyle::line};
  const auto count = static_cast<double>(times.count());
  double longer = count;
  for (const auto& bin : times.bins()) {
    line.x.push_back(bin.low / 1000);
    line.y.push_back(longer / count);
    longer -= static_cast<double>(bin.count);
  }
  // A logarithmic axis has no share of 0: the curve ends at the longest time with the share of one.
  line.x.push_back(times.max() / 1000);
  line.y.push_back(1 / count);
  return line;
}

}  // namespace

std::string series_name(const Json& point, const std::vector<const char*>& members) {
  std::string name;
  for (const auto* member : members) {
    const auto value = point.value(member, Json());
    if (value.is_null() || value == 0 || value == "ring") continue;
    const std::string_view of(member);
    name += name.empty() ? "" : ", ";
    if (of == "transport") name += "over ";
    if (of.ends_with("_ns")) {
      name += fmt::format("{} {:g} us", of.substr(0, of.size() - 3), value.get<double>() / 1000);
    } else {
      name += value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  return name;
}

void add_to_series(Plot& plot, const std::string& name, double x, double y) {
  auto line = std::ranges::find(plot.series, name, &PlotSeries::name);
  if (line == plot.series.end()) line = plot.series.insert(plot.series.end(), PlotSeries{name, {}, {}});
  line->x.push_back(x);
  line->y.push_back(y);
}

void DistributionPlots::add(double message_bytes, const std::string& name, const LatencyHistogram& times) {
  if (times.count() == 0) return;
  auto size = std::ranges::find(sizes_, message_bytes, &OfSize::bytes);
  if (size == sizes_.end()) size = sizes_.insert(sizes_.end(), {message_bytes, {}});
  size->series.push_back(longer_than(name, times));
}

Plot DistributionPlots::plot(const OfSize& size) const {
  return {fmt::format("{}, {:.0f} bytes: share of times longer than t", what_, size.bytes),
          "t [us]",
          "share",
          true,
          true,
          size.series};
}

std::vector<Plot> DistributionPlots::plots() const {
  if (sizes_.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax_element(sizes_, {}, &OfSize::bytes);
  std::vector<Plot> plots{plot(*least)};
  if (greatest != least) plots.push_back(plot(*greatest));
  return plots;
}

}  // namespace eventloom
