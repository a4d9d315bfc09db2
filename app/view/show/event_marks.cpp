#include "app/view/show/event_marks.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "app/command/safe_text.hpp"

namespace eventloom {

namespace {

/// Colours of Okabe and Ito, distinguishable to the colour-blind. The last one is grey.
constexpr std::array kMarkColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666"};
constexpr std::size_t kMostNameColumns = 20;
constexpr double kLegendColumn = 160;

/// Grey is for hits without a group.
std::string colour_of_group(std::size_t group, std::size_t groups) {
  return group == groups ? kMarkColours.back() : kMarkColours[group % (kMarkColours.size() - 1)];
}

}  // namespace

EventMarks::EventMarks(const EventView& view) : view_(&view) {
  for (const auto& hit : view.event.hits) {
    if (!hit.payload.empty()) greatest_payload_ = std::max(greatest_payload_, hit.payload.front());
  }
}

double EventMarks::radius_of(const OutputHit& hit) const {
  if (hit.payload.empty() || greatest_payload_ == 0) return 4;
  return 2 + 6 * std::sqrt(static_cast<double>(hit.payload.front()) / greatest_payload_);
}

/// Returns the number of groups if the hit has none.
std::size_t EventMarks::group_of(const OutputHit& hit) const {
  const auto* range = view_->known.at(hit.source, hit.channel);
  const auto groups = range == nullptr ? std::vector<std::size_t>() : view_->known.groups_of(*range);
  return groups.empty() ? view_->known.groups().size() : groups.front();
}

std::string EventMarks::colour_of(const OutputHit& hit) const {
  if (!by_group()) return kMarkColours[hit.source % kMarkColours.size()];
  return colour_of_group(group_of(hit), view_->known.groups().size());
}

std::string EventMarks::title_of(const OutputHit& hit) const {
  auto title = fmt::format("+{}, source {}, channel {}", view_->time_text(hit.time - view_->event.time), hit.source,
                           hit.channel);
  if (!hit.payload.empty()) title += fmt::format(", payload {}", hit.payload.front());
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
