#include "app/show/event_svg.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>

#include "app/show/safe_text.hpp"

namespace eventloom {

namespace {

constexpr int kLeft = 210;
constexpr int kTop = 64;
constexpr int kPlotWidth = 640;
constexpr int kSvgWidth = kLeft + kPlotWidth + 30;
constexpr std::size_t kMostColumns = 24;  // of a name
constexpr double kLeastRow = 4;
constexpr double kGreatestRow = 22;
constexpr double kPlotHeight = 720;  // unless rows would be lower than kLeastRow
/// Okabe and Ito's colours, which are distinguishable to the colour-blind.
constexpr std::array kSvgColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666"};

double row_height(std::size_t rows) {
  return std::clamp(kPlotHeight / static_cast<double>(std::max<std::size_t>(rows, 1)), kLeastRow, kGreatestRow);
}

std::uint32_t greatest_payload(const OutputEvent& event) {
  std::uint32_t greatest = 0;
  for (const auto& hit : event.hits) {
    if (!hit.payload.empty()) greatest = std::max(greatest, hit.payload.front());
  }
  return greatest;
}

/// The area grows with the first payload word.
double radius_of(const OutputHit& hit, std::uint32_t greatest) {
  if (hit.payload.empty() || greatest == 0) return 4;
  return 2 + 6 * std::sqrt(static_cast<double>(hit.payload.front()) / greatest);
}

std::string label_of_row(const EventView& view, const PictureRow& row) {
  if (view.rows == ShowRows::channels) return fmt::format("source {}, channel {}", row.source, row.channel);
  const auto name = end_of(for_terminal(view.source_name(row.source)), kMostColumns);
  return for_xml(fmt::format("{} {}", row.source, name));
}

std::string head_of_svg(const EventView& view, double height) {
  const auto title = fmt::format("Event {} of {}: {} hits in {}, at {}", view.number, view.of, view.event.n_hits,
                                 view.time_text(view.event.duration), view.time_text(view.event.time));
  return fmt::format(
      "{}<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{:.0f}\" viewBox=\"0 0 {} {:.0f}\" "
      "role=\"img\" aria-labelledby=\"title\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<title id=\"title\">{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"16\" y=\"28\" font-size=\"17\">{}</text>\n",
      kSvgBegin, kSvgWidth, height, kSvgWidth, height, for_xml(title), for_xml(title));
}

std::string time_axis(const EventView& view, double bottom) {
  std::string svg;
  for (const int quarter : {0, 1, 2, 3, 4}) {
    const auto whole = static_cast<double>(view.event.duration);
    const auto ticks = static_cast<Tick>(whole * quarter / 4);
    const double x = kLeft + (whole == 0 ? 0 : static_cast<double>(ticks) / whole * kPlotWidth);
    if (whole == 0 && quarter > 0) break;
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n", x, kTop,
                       bottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 18,
                       view.time_text(ticks));
  }
  return svg + fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">time since the first hit</text>\n",
                           kLeft + kPlotWidth / 2, bottom + 38);
}

std::string hit_mark(const EventView& view, const OutputHit& hit, double y, std::uint32_t greatest) {
  std::string about =
      fmt::format("+{}, source {}, channel {}", view.time_text(hit.time - view.event.time), hit.source, hit.channel);
  if (!hit.payload.empty()) about += fmt::format(", payload {}", hit.payload.front());
  return fmt::format(
      "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" fill-opacity=\"0.7\">"
      "<title>{}</title></circle>\n",
      kLeft + place_in_event(view.event, hit) * kPlotWidth, y, radius_of(hit, greatest),
      kSvgColours[hit.source % kSvgColours.size()], about);
}

}  // namespace

const char* const kSvgBegin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Eventloom event -->\n";

std::string event_svg(const EventView& view) {
  const auto rows = picture_rows(view);
  const double step = row_height(rows.size());
  const double bottom = kTop + step * static_cast<double>(rows.size());
  const auto greatest = greatest_payload(view.event);
  std::string svg = head_of_svg(view, bottom + 56) + time_axis(view, bottom);
  // Where rows are lower than letters, only some have room for their names.
  const auto every = static_cast<std::size_t>(std::ceil(13 / step));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kTop + step * (static_cast<double>(i) + 0.5);
    if (i % every == 0) {
      svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 12, y + 4,
                         label_of_row(view, rows[i]));
    }
    for (const auto* hit : rows[i].hits) svg += hit_mark(view, *hit, y, greatest);
  }
  return svg + "</svg>\n";
}

}  // namespace eventloom
