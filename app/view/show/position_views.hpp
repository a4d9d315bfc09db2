#pragma once

#include <string>
#include <vector>

#include "app/view/show/event_marks.hpp"
#include "app/view/show/event_view.hpp"

namespace eventloom {

/// Two views of the positions of an event's hits, as SVG: from above (x and y), and from the side (z over x or y,
/// whichever spreads more). A metre is as long on both axes of a view. Small dots are the detector's other positions.
/// Hits are coloured by group, or by time where the detector has no groups.
class PositionViews {
 public:
  /// Both must outlive it.
  PositionViews(const EventView& view, const EventMarks& marks);

  /// Any hit has a position.
  [[nodiscard]] bool any() const { return !placed_.empty(); }
  /// The views below each other, from this place on, in pixels.
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
  std::vector<PlacedHit> placed_;   ///< the hits that have a position, in the order of time
  std::vector<Position> detector_;  ///< what is known, or some of it where it is very much
};

}  // namespace eventloom
