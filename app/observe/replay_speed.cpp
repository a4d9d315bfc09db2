#include "app/observe/replay_speed.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "core/runtime/error.hpp"

namespace eventloom {

std::uint64_t speed_in_millionths(double speed) {
  constexpr double kFastest = 1e9;
  const double millionths = std::round(speed * 1e6);
  if (!(speed >= 0) || speed > kFastest || (speed > 0 && millionths == 0)) {
    throw UserError("speed must be a number: 0 (as fast as possible), or from 1e-6 to 1e9 times as recorded");
  }
  return static_cast<std::uint64_t>(millionths);
}

double parse_replay_speed(const std::string& text) {
  double speed = -1;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, speed);
  const bool is_number = error == std::errc{} && stop == end;
  static_cast<void>(speed_in_millionths(is_number ? speed : -1));
  return speed;
}

}  // namespace eventloom
