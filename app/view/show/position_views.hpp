#pragma once

#include <string>
#include <vector>

#include "app/view/show/event_marks.hpp"
#include "app/view/show/event_view.hpp"

namespace eventloom {

/// Two views of the positions of an event's hits, as SVG: from above (x and y) and from the side (z over x or y,
/// whichever spreads more). Both axes of a view have the same scale. Small dots mark the detector's other positions.
/// Hits are coloured by group, or by time if the detector has no groups.
class PositionViews {
 public:
  /// Both arguments must outlive the object.
  PositionViews(const EventView& view, const EventMarks& marks);

  /// Whether any hit has a position.
  [[nodiscard]] bool any() const { return !placed_.empty(); }
  /// Returns the views, one below the other, with their top left corner at this position in pixels.
  [[nodiscard]] std::string svg(double left, double top) const;
  static constexpr double kWidth = 400;
  static constexpr double kHeight = 740;

 private:
  struct PlacedHit {
    const OutputHit* hit = nullptr;
    Position position;
  };
  [[nodiscard]] std::string view_of(double left, double top, const char* title, double Position::*across,
                                    double Position::*up) const;
  [[nodiscard]] std::string notes(double left, double top) const;

  const EventView* view_;
  const EventMarks* marks_;
  std::vector<PlacedHit> placed_;   ///< the hits that have a position, in time order
  std::vector<Position> detector_;  ///< known positions, thinned out if there are very many
};

}  // namespace eventloom
