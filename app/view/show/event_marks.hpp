#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// Draws the hits of an event as SVG. The area of a mark encodes the value, or the first payload number if the output
/// has no values. Its colour encodes the group, or the source if the detector has no groups. Texts are escaped.
class EventMarks {
 public:
  /// `view` must outlive the object.
  explicit EventMarks(const EventView& view);

  [[nodiscard]] bool by_group() const { return !view_->known.groups().empty(); }
  /// Colour of the first group of the hit's channel, or of its source.
  [[nodiscard]] std::string colour_of(const OutputHit& hit) const;
  [[nodiscard]] std::string circle(const OutputHit& hit, double x, double y, const std::string& colour) const;

  /// Returns the legend of the groups that occur in the event, one element per row of kLegendRow pixels; empty if
  /// there are no groups.
  [[nodiscard]] std::vector<std::string> legend_rows(double x, double y, double width) const;
  static constexpr double kLegendRow = 18;  ///< pixels

 private:
  [[nodiscard]] double amount_of(const OutputHit& hit) const;
  [[nodiscard]] double radius_of(const OutputHit& hit) const;
  [[nodiscard]] std::string title_of(const OutputHit& hit) const;
  [[nodiscard]] std::size_t group_of(const OutputHit& hit) const;

  const EventView* view_;
  double greatest_ = 0;  ///< amount_of() of any hit
};

}  // namespace eventloom
