#include "app/view/show/event_svg.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/view/show/event_marks.hpp"
#include "app/view/show/position_views.hpp"
#include "core/runtime/format.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {

namespace {

constexpr int kLeft = 210;
constexpr int kTop = 64;
constexpr int kPlotWidth = 640;
constexpr int kSvgWidth = kLeft + kPlotWidth + 30;
constexpr std::size_t kRowNameColumns = 24;  // columns of a name
constexpr double kLeastRow = 4;
constexpr double kGreatestRow = 22;
constexpr double kPlotHeight = 720;  // unless rows would be lower than kLeastRow

double row_height(std::size_t rows) {
  return std::clamp(kPlotHeight / static_cast<double>(std::max<std::size_t>(rows, 1)), kLeastRow, kGreatestRow);
}

/// The name of a channel is more informative than its number.
std::string label_of_channel(const EventView& view, const PictureRow& row) {
  const auto name = for_xml(end_of(for_terminal(view.known.name_of(row.source, row.channel)), kRowNameColumns - 6));
  return name.empty() ? fmt::format("source {}, channel {}", row.source, channel_text(row.channel))
                      : fmt::format("source {}, {}", row.source, name);
}

std::string label_of_row(const EventView& view, const PictureRow& row) {
  if (view.rows == ShowRows::channels) return label_of_channel(view, row);
  const auto name = end_of(for_terminal(view.source_name(row.source)), kRowNameColumns);
  return for_xml(fmt::format("{} {}", row.source, name));
}

std::string head_of_svg(const EventView& view, double width, double height) {
  const auto title = fmt::format("Event {} of {}: {} hits in {}, at {}", view.number, view.of, view.event.n_hits,
                                 view.time_text(view.event.duration), view.time_text(view.event.time));
  return fmt::format(
      "{0}<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{1:.0f}\" height=\"{2:.0f}\" viewBox=\"0 0 {1:.0f} "
      "{2:.0f}\" "
      "role=\"img\" aria-labelledby=\"title\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<title id=\"title\">{3}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"16\" y=\"28\" font-size=\"17\">{3}</text>\n",
      kSvgBegin, width, height, for_xml(title));
}

std::string time_axis(const EventView& view, double bottom) {
  std::string svg;
  std::optional<Tick> before;
  for (const int quarter : {0, 1, 2, 3, 4}) {
    const auto whole = static_cast<double>(view.event.duration);
    const auto ticks = static_cast<Tick>(whole * quarter / 4);
    // A short event has fewer ticks than quarters.
    if (before == ticks) continue;
    before = ticks;
    const double x = kLeft + (whole == 0 ? 0 : static_cast<double>(ticks) / whole * kPlotWidth);
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n", x, kTop,
                       bottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 18,
                       view.time_text(ticks));
  }
  return svg + fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">time since the first hit</text>\n",
                           kLeft + kPlotWidth / 2, bottom + 38);
}

/// The rows with their names and hits. If rows are lower than the text, only some are labelled.
std::string hits_over_time(const EventView& view, const EventMarks& marks, const std::vector<PictureRow>& rows) {
  const double step = row_height(rows.size());
  const auto every = static_cast<std::size_t>(std::ceil(13 / step));
  std::string svg;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kTop + step * (static_cast<double>(i) + 0.5);
    if (i % every == 0) {
      svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 12, y + 4,
                         label_of_row(view, rows[i]));
    }
    for (const auto* hit : rows[i].hits) {
      svg += marks.circle(*hit, kLeft + place_in_event(view.event, *hit) * kPlotWidth, y, marks.colour_of(*hit));
    }
  }
  return svg;
}

}  // namespace

const char* const kSvgBegin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Eventloom event -->\n";

std::string event_svg(const EventView& view) {
  const auto rows = picture_rows(view);
  const EventMarks marks(view);
  const double bottom = kTop + row_height(rows.size()) * static_cast<double>(rows.size());
  const auto legend = marks.legend_rows(kLeft, bottom + 62, kPlotWidth);
  const PositionViews positions(view, marks);
  const bool beside = positions.any();
  const double height = bottom + 56 + EventMarks::kLegendRow * static_cast<double>(legend.size());
  std::string svg = head_of_svg(view, kSvgWidth + (beside ? PositionViews::kWidth : 0),
                                beside ? std::max(height, kTop + PositionViews::kHeight) : height);
  svg += time_axis(view, bottom) + hits_over_time(view, marks, rows);
  for (const auto& row : legend) svg += row;
  if (beside) svg += positions.svg(kSvgWidth, kTop);
  return svg + "</svg>\n";
}

}  // namespace eventloom
