#include "app/view/show/event_marks.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "app/command/safe_text.hpp"
#include "app/document/series_colour.hpp"
#include "core/runtime/format.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostNameColumns = 20;
constexpr double kLegendColumn = 160;

/// Grey is for hits without a group.
std::string colour_of_group(std::size_t group, std::size_t groups) {
  return series_colour(group == groups ? kNoGroupColour : colour_number_of_group(group));
}

}  // namespace

EventMarks::EventMarks(const EventView& view) : view_(&view) {
  for (const auto& hit : view.event.hits) greatest_ = std::max(greatest_, amount_of(hit));
}

/// Returns the number that the size of a mark encodes.
double EventMarks::amount_of(const OutputHit& hit) const {
  const auto number = hit.value ? hit.value : view_->numbers.first_real(hit.source, hit.payload);
  if (number) return std::isfinite(*number) ? std::max(*number, 0.0) : 0;
  return hit.payload.empty() ? 0 : hit.payload.front();
}

double EventMarks::radius_of(const OutputHit& hit) const {
  if (hit.payload.empty() || greatest_ == 0) return 4;
  return 2 + 6 * std::sqrt(amount_of(hit) / greatest_);
}

/// Returns the number of groups if the hit has none.
std::size_t EventMarks::group_of(const OutputHit& hit) const {
  const auto* range = view_->known.at(hit.source, hit.channel);
  const auto groups = range == nullptr ? std::vector<std::size_t>() : view_->known.groups_of(*range);
  return groups.empty() ? view_->known.groups().size() : groups.front();
}

std::string EventMarks::colour_of(const OutputHit& hit) const {
  if (!by_group()) return series_colour(hit.source);
  return colour_of_group(group_of(hit), view_->known.groups().size());
}

std::string EventMarks::title_of(const OutputHit& hit) const {
  auto title = fmt::format("+{}, source {}, channel {}", view_->time_text(hit.time - view_->event.time), hit.source,
                           channel_text(hit.channel));
  if (const auto value = view_->value_text(hit, true); !value.empty()) title += ", value " + for_xml(value);
  if (const auto number = view_->numbers.first_real(hit.source, hit.payload)) {
    title += fmt::format(", payload {}", *number);
  } else if (!hit.payload.empty()) {
    title += fmt::format(", payload {}", hit.payload.front());
  }
  const auto* range = view_->known.at(hit.source, hit.channel);
  if (range != nullptr && !range->name.empty()) title += fmt::format(", {}", for_xml(range->name));
  if (range != nullptr && !range->groups.empty()) title += fmt::format(", group {}", for_xml(range->groups));
  return title;
}

std::string EventMarks::circle(const OutputHit& hit, double x, double y, const std::string& colour) const {
  return fmt::format(
      "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" fill-opacity=\"0.7\">"
      "<title>{}</title></circle>\n",
      x, y, radius_of(hit), colour, title_of(hit));
}

std::vector<std::string> EventMarks::legend_rows(double x, double y, double width) const {
  std::vector<std::string> rows;
  if (!by_group()) return rows;
  const auto& names = view_->known.groups();
  std::set<std::size_t> groups;
  for (const auto& hit : view_->event.hits) groups.insert(group_of(hit));
  const auto columns = static_cast<std::size_t>(std::max(1.0, width / kLegendColumn));
  std::size_t n = 0;
  for (const auto group : groups) {
    const auto column = static_cast<double>(n % columns);
    if (n++ % columns == 0) rows.emplace_back();
    const double left = x + column * kLegendColumn;
    const double row_y = y + static_cast<double>(rows.size() - 1) * kLegendRow;
    const auto name = group == names.size() ? "no group" : end_of(for_terminal(names[group]), kMostNameColumns);
    rows.back() += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" fill=\"{}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        left, row_y - 10, colour_of_group(group, names.size()), left + 17, row_y, for_xml(name));
  }
  return rows;
}

}  // namespace eventloom
