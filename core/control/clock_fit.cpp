#include "core/control/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eventloom {

namespace {

constexpr std::size_t kPoints = 64;
/// Used until the points give a better value: a quartz is within 100 ppm, and NTP slews by up to 500.
constexpr double kUnknownRate = 500e-6;
/// Drift of a rate (temperature) within the time that the points span.
constexpr double kWander = 0.1e-6;
/// Times are whole ns: no point is better than this.
constexpr double kRounding = 1;

std::int64_t duration(const RoundTrip& trip) { return trip.received - trip.sent; }

/// Master minus local, if both ways took the same time.
std::int64_t offset(const RoundTrip& trip) { return trip.sent + duration(trip) / 2 - trip.remote; }

}  // namespace

std::int64_t to_master(const ClockModel& model, std::int64_t t) {
  const std::int64_t since = t - model.t0;
  return model.shift + since + std::llround(static_cast<double>(since) * (model.coef - 1));
}

std::int64_t to_local(const ClockModel& model, std::int64_t T) {
  const std::int64_t since = T - model.shift;
  return model.t0 + since - std::llround(static_cast<double>(since) * ((model.coef - 1) / model.coef));
}

/// The weighted line through the points; x and y are relative to the newest point, in ns.
struct ClockFit::Line {
  double x = 0;  ///< the weighted mean of the points is on the line
  double y = 0;
  double rate = 0;
  double rate_error = std::numeric_limits<double>::infinity();
};

void ClockFit::add(const RoundTrip& trip) {
  if (duration(trip) < 0) return;
  batch_.push_back(trip);
  ++round_trips_;
}

void ClockFit::end_batch() {
  if (batch_.empty()) return;
  points_.push_back(summary());
  if (points_.size() > kPoints) points_.pop_front();
  batch_.clear();

  const Line fitted = line();
  const bool significant = fitted.rate_error < kUnknownRate;
  if (significant) rate_ = fitted.rate;
  rate_error_ = significant ? fitted.rate_error : kUnknownRate;
  const auto& newest = points_.back();
  model_ = {newest.local, 1 + rate_, newest.local + newest.offset + std::llround(fitted.y - rate_ * fitted.x)};

  double weights = 0;
  double squares = 0;
  for (const auto& point : points_) {
    const double weight = 1 / (point.error * point.error);
    weights += weight;
    squares += weight * distance(point) * distance(point);
  }
  residual_ = std::sqrt(squares / weights);
}

// The mean time and the mean offset of several round trips are as valid a point as any single one, whatever the rate;
// and the error of a mean is at most the mean of the errors.
ClockFit::Point ClockFit::summary() const {
  const auto& first = batch_.front();
  const std::int64_t shortest = duration(*std::ranges::min_element(batch_, {}, duration));
  const std::int64_t limit = shortest + shortest / 4;
  double local_sum = 0;
  double offset_sum = 0;
  double error_sum = 0;
  double count = 0;
  for (const auto& trip : batch_) {
    if (duration(trip) > limit) continue;
    local_sum += static_cast<double>(trip.remote - first.remote);
    offset_sum += static_cast<double>(offset(trip) - offset(first));
    error_sum += static_cast<double>(duration(trip)) / 2;
    count += 1;
  }
  return {first.remote + std::llround(local_sum / count), offset(first) + std::llround(offset_sum / count),
          error_sum / count + kRounding};
}

// The slope of a weighted line is a weighted sum of the y, so its error is at most the same sum of their errors with
// all signs equal. That assumes neither a distribution of the errors nor their independence (an asymmetric path is
// wrong the same way every time).
ClockFit::Line ClockFit::line() const {
  const auto& newest = points_.back();
  const auto x = [&](const Point& p) { return static_cast<double>(p.local - newest.local); };
  const auto y = [&](const Point& p) { return static_cast<double>(p.offset - newest.offset); };
  // The more the rate may have changed since, the less an old point counts.
  const auto weight = [&](const Point& p) { return 1 / (p.error * p.error + std::pow(kWander * x(p), 2)); };
  Line line;
  double weights = 0;
  for (const auto& p : points_) {
    weights += weight(p);
    line.x += weight(p) * x(p);
    line.y += weight(p) * y(p);
  }
  line.x /= weights;
  line.y /= weights;
  double xx = 0;
  double xy = 0;
  double error = 0;
  for (const auto& p : points_) {
    const double lever = weight(p) * (x(p) - line.x);
    xx += lever * (x(p) - line.x);
    xy += lever * (y(p) - line.y);
    error += std::abs(lever) * p.error;
  }
  if (xx <= 0) return line;
  line.rate = xy / xx;
  double squares = 0;
  for (const auto& p : points_) {
    squares += weight(p) * std::pow(y(p) - line.y - line.rate * (x(p) - line.x), 2);
  }
  // The last term: points that do not lie on a line do not determine the rate exactly.
  line.rate_error = error / xx + kWander + std::sqrt(squares / xx);
  return line;
}

double ClockFit::distance(const Point& point) const {
  return static_cast<double>(point.local + point.offset - to_master(model_, point.local));
}

double ClockFit::promise(const Point& point, std::int64_t at) const {
  const auto ahead = static_cast<double>(std::max<std::int64_t>(at - (point.local + point.offset), 0));
  return point.error + std::abs(distance(point)) + rate_error_ * ahead;
}

// Newest first: while the clock keeps its rate all promises hold; a newer point that is certainly farther off the line
// refutes a promise.
ClockQuality ClockFit::quality(std::int64_t until) const {
  double bound = std::numeric_limits<double>::infinity();
  for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
    const auto refutes = [&](const Point& newer) {
      return std::abs(distance(newer)) - newer.error > promise(*point, newer.local + newer.offset);
    };
    if (std::any_of(points_.rbegin(), point, refutes)) break;
    bound = std::min(bound, promise(*point, until));
  }
  return {static_cast<double>(model_.shift - model_.t0),
          rate_ * 1e6,
          residual_,
          bound + residual_,
          rate_error_ * 1e6,
          round_trips_};
}

}  // namespace eventloom
