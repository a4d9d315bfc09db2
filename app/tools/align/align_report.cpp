#include "app/tools/align/align_report.hpp"

#include <algorithm>
#include <cmath>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Part of all differences within the window that lie within 2 standard deviations of the aligned peaks from 0.
double share_within(const DifferenceSpectrum& spectrum, double ticks) {
  double within = 0;
  double all = 0;
  for (std::size_t bin = 0; bin < spectrum.counts.size(); ++bin) {
    const auto n = static_cast<double>(spectrum.counts[bin]);
    all += n;
    if (std::abs(spectrum.bins.centre(bin)) <= ticks) within += n;
  }
  return all == 0 ? 0 : within / all;
}

PlotSeries series_of(const std::string& name, const DifferenceSpectrum& spectrum, double ns_per_tick) {
  PlotSeries series{name, {}, {}, PlotStyle::steps};
  for (std::size_t bin = 0; bin < spectrum.counts.size(); ++bin) {
    series.x.push_back(spectrum.bins.centre(bin) * ns_per_tick);
    series.y.push_back(static_cast<double>(spectrum.counts[bin]));
  }
  return series;
}

std::string drift_text(const UnitAlignment& found, double ns_per_tick) {
  if (!found.drift) return "";
  return fmt::format("  {:>11.4f} +- {:.4f}", found.drift->value * ns_per_tick, found.drift->error * ns_per_tick);
}

}  // namespace

std::string alignment_text(const Alignment& alignment, std::uint64_t tick_ps) {
  const double ns_per_tick = static_cast<double>(tick_ps) * 1e-3;
  const bool drifts = std::ranges::any_of(alignment.found, [](const auto& unit) { return unit.drift.has_value(); });
  std::string text = fmt::format("{:<32} {:>12} {:>10} {:>14}{}\n", "unit", "offset (ns)", "error", "coincidences",
                                 drifts ? "  drift (ns/s)" : "");
  for (std::size_t unit = 0; unit < alignment.found.size(); ++unit) {
    const auto& found = alignment.found[unit];
    const auto name = for_terminal(alignment.units.name(unit));
    if (!found.offset) {
      text += fmt::format("{:<32} {:>12} {:>10} {:>14.0f}\n", name, "unknown", "", found.coincidences);
      continue;
    }
    text += fmt::format("{:<32} {:>12.3f} {:>10.3f} {:>14.0f}{}{}\n", name, found.offset->value * ns_per_tick,
                        found.offset->error * ns_per_tick, found.coincidences, drift_text(found, ns_per_tick),
                        unit == alignment.reference ? "  (reference)" : "");
  }
  const double near = std::max(2 * alignment.width, 1.0);
  return text + fmt::format("within {:.3g} ns of each other: {:.1f} % of the differences before, {:.1f} % after\n",
                            near * ns_per_tick, 100 * share_within(alignment.before, near),
                            100 * share_within(alignment.after, near));
}

std::vector<std::string> alignment_gaps(const Alignment& alignment) {
  constexpr std::size_t kMostNamed = 10;
  std::vector<std::string> gaps;
  for (std::size_t unit = 0; unit < alignment.found.size(); ++unit) {
    if (alignment.found[unit].offset) continue;
    gaps.push_back(fmt::format("{}: too few coincidences with the others among {} hits; its offset stays",
                               for_terminal(alignment.units.name(unit)), alignment.units.hits(unit)));
  }
  if (gaps.size() <= kMostNamed) return gaps;
  const auto others = gaps.size() - kMostNamed;
  gaps.resize(kMostNamed);
  gaps.push_back(fmt::format("{} more have too few coincidences", others));
  return gaps;
}

std::vector<Plot> alignment_plots(const Alignment& alignment, std::uint64_t tick_ps) {
  const double ns_per_tick = static_cast<double>(tick_ps) * 1e-3;
  Plot plot;
  plot.title = "Time differences of all pairs";
  plot.x_label = "time difference (ns)";
  plot.y_label = "pairs of hits";
  plot.series = {series_of("before", alignment.before, ns_per_tick), series_of("after", alignment.after, ns_per_tick)};
  return {plot};
}

}  // namespace eventloom
