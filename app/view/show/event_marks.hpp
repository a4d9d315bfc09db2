#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// How the hits of an event are drawn as SVG: the area of each is its first payload word, its colour is that of its
/// group, or of its source where the detector has no groups. Texts are escaped.
class EventMarks {
 public:
  /// `view` must outlive it.
  explicit EventMarks(const EventView& view);

  [[nodiscard]] bool by_group() const { return !view_->known.groups().empty(); }
  /// The first group of the hit's channel, or its source.
  [[nodiscard]] std::string colour_of(const OutputHit& hit) const;
  [[nodiscard]] std::string circle(const OutputHit& hit, double x, double y, const std::string& colour) const;

  /// The groups that hits of the event have, a row of them per this many pixels; empty where there are none.
  [[nodiscard]] std::vector<std::string> legend_rows(double x, double y, double width) const;
  static constexpr double kLegendRow = 18;  ///< pixels

 private:
  [[nodiscard]] double radius_of(const OutputHit& hit) const;
  [[nodiscard]] std::string title_of(const OutputHit& hit) const;
  [[nodiscard]] std::size_t group_of(const OutputHit& hit) const;

  const EventView* view_;
  std::uint32_t greatest_payload_ = 0;
};

}  // namespace eventloom
