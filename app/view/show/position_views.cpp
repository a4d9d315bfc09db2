#include "app/view/show/position_views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "app/document/tick_text.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

using Axis = double Position::*;

constexpr double kSide = 270;   ///< side of a view in pixels
constexpr double kBelow = 350;  ///< distance between two views in pixels
constexpr double kAxisRoom = 74;
/// More dots would not improve the picture.
constexpr std::size_t kMostDots = 20'000;
/// Beyond this size, doubles cannot resolve the pixels between two positions.
constexpr double kGreatest = 1e12;

/// Viridis, whose lightness increases uniformly.
constexpr std::array<std::array<int, 3>, 5> kTimeColours = {
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};

std::string hex(const std::array<int, 3>& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

/// `share`: 0 to 1.
std::string colour_of_time(double share) {
  const double place = share * (kTimeColours.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), kTimeColours.size() - 2);
  const double part = place - static_cast<double>(low);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i) {
    const int from = kTimeColours[low][i];
    mixed[i] = from + static_cast<int>(std::lround(part * (kTimeColours[low + 1][i] - from)));
  }
  return hex(mixed);
}

bool is_drawable(const DetectorRange& range) {
  const auto fits = [](double metres) { return std::abs(metres) <= kGreatest; };
  const auto& p = range.position;
  return range.has_position() && fits(p.x) && fits(p.y) && fits(p.z);
}

struct Reach {
  double low = 0;
  double high = 0;
  [[nodiscard]] double middle() const { return low / 2 + high / 2; }
  [[nodiscard]] double size() const { return high - low; }
};

Reach reach_of(const std::vector<Position>& positions, Axis axis) {
  const auto [low, high] =
      std::ranges::minmax_element(positions, {}, [axis](const Position& position) { return position.*axis; });
  return {(*low).*axis, (*high).*axis};
}

/// Maps a square in metres to a square in pixels, with `up` pointing upwards.
class Frame {
 public:
  Frame(double left, double top, const Reach& across, const Reach& up) : left_(left), top_(top) {
    const double size = std::max(across.size(), up.size());
    length_ = size > 0 ? 1.1 * size : 1;
    low_across_ = across.middle() - length_ / 2;
    low_up_ = up.middle() - length_ / 2;
  }

  [[nodiscard]] double x(double metres) const { return left_ + (metres - low_across_) / length_ * kSide; }
  [[nodiscard]] double y(double metres) const { return top_ + kSide - (metres - low_up_) / length_ * kSide; }

  /// Returns a box with ticks and axis names.
  [[nodiscard]] std::string axes(char across, char up) const {
    std::string svg =
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999999\"/>\n",
                    left_, top_, kSide, kSide);
    for (const auto& [at, metres] : ticks(low_across_)) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(at), top_ + kSide + 16,
                         metres);
    }
    for (const auto& [at, metres] : ticks(low_up_)) {
      svg +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 6, y(at) + 4, metres);
    }
    const double middle = top_ + kSide / 2;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{} [m]</text>\n", left_ + kSide / 2,
                       top_ + kSide + 34, across);
    return svg + fmt::format(
                     "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\" "
                     "transform=\"rotate(-90 {0:.1f} {1:.1f})\">{2} [m]</text>\n",
                     left_ - kAxisRoom + 16, middle, up);
  }

 private:
  [[nodiscard]] std::vector<std::pair<double, std::string>> ticks(double low) const {
    const auto places = even_ticks(low, low + length_, 4);
    const int digits = digits_between(places, 7);
    std::vector<std::pair<double, std::string>> ticks;
    for (const double at : places) ticks.emplace_back(at, fmt::format("{:.{}g}", at == 0 ? 0 : at, digits));
    return ticks;
  }

  double left_;
  double top_;
  double low_across_ = 0;
  double low_up_ = 0;
  double length_ = 1;
};

char name_of(Axis axis) { return axis == &Position::x ? 'x' : axis == &Position::y ? 'y' : 'z'; }

std::string dots(const std::vector<Position>& positions, const Frame& frame, Axis across, Axis up) {
  std::string path;
  for (const auto& position : positions) {
    path += fmt::format("M{:.1f} {:.1f}h0", frame.x(position.*across), frame.y(position.*up));
  }
  return fmt::format("<path d=\"{}\" stroke=\"#aaaaaa\" stroke-width=\"3.5\" stroke-linecap=\"round\"/>\n", path);
}

/// Returns the colour scale.
std::string time_scale(const EventView& view, double left, double top) {
  std::string stops;
  for (std::size_t i = 0; i < kTimeColours.size(); ++i) {
    stops += fmt::format("<stop offset=\"{}\" stop-color=\"{}\"/>", static_cast<double>(i) / (kTimeColours.size() - 1),
                         hex(kTimeColours[i]));
  }
  return fmt::format(
      "<defs><linearGradient id=\"time\">{}</linearGradient></defs>\n"
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"8\" fill=\"url(#time)\"/>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">0</text><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
      stops, left, top, kSide, left, top + 22, left + kSide, top + 22, view.time_text(view.event.duration));
}

}  // namespace

PositionViews::PositionViews(const EventView& view, const EventMarks& marks) : view_(&view), marks_(&marks) {
  for (const auto& hit : view.event.hits) {
    const auto* range = view.known.at(hit.source, hit.channel);
    if (range != nullptr && is_drawable(*range)) placed_.push_back({&hit, range->position});
  }
  if (placed_.empty()) return;
  const auto& ranges = view.known.ranges();
  const std::size_t every = ranges.size() / kMostDots + 1;
  for (std::size_t i = 0; i < ranges.size(); i += every) {
    if (is_drawable(ranges[i])) detector_.push_back(ranges[i].position);
  }
  for (const auto& hit : placed_) detector_.push_back(hit.position);
}

std::string PositionViews::svg(double left, double top) const {
  const bool along_x = reach_of(detector_, &Position::x).size() >= reach_of(detector_, &Position::y).size();
  const double inner = left + kAxisRoom;
  return view_of(inner, top, "Top view", &Position::x, &Position::y) +
         view_of(inner, top + kBelow, "Side view", along_x ? &Position::x : &Position::y, &Position::z) +
         notes(inner, top + kBelow + kSide + 60);
}

std::string PositionViews::view_of(double left, double top, const char* title, Axis across, Axis up) const {
  const Frame frame(left, top, reach_of(detector_, across), reach_of(detector_, up));
  std::string svg = fmt::format("<g class=\"{}\">\n<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                                name_of(up) == 'z' ? "side" : "top", left, top - 8, title);
  svg += frame.axes(name_of(across), name_of(up)) + dots(detector_, frame, across, up);
  for (const auto& [hit, position] : placed_) {
    const auto colour =
        marks_->by_group() ? marks_->colour_of(*hit) : colour_of_time(place_in_event(view_->event, *hit));
    svg += marks_->circle(*hit, frame.x(position.*across), frame.y(position.*up), colour);
  }
  return svg + "</g>\n";
}

std::string PositionViews::notes(double left, double top) const {
  std::string svg;
  if (!marks_->by_group()) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">colour: time since the first hit</text>\n", left, top) +
           time_scale(*view_, left, top + 8);
  }
  const auto missing = view_->event.hits.size() - placed_.size();
  if (missing == 0) return svg;
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{} {} without a position</text>\n", left,
                           marks_->by_group() ? top : top + 50, missing, missing == 1 ? "hit" : "hits");
}

}  // namespace eventloom
