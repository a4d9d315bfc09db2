#include "app/document/series_colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::array kFirstColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666"};
/// Turns of the colour circle from a colour to the next: multiples of the golden section never come close to each
/// other.
constexpr double kGoldenTurn = 0.6180339887498949;
constexpr double kFirstTurn = 0.2;
/// Neighbours in hue differ in lightness and saturation. None is so light or dark that it vanishes on a page.
constexpr std::array kLightness = {0.52, 0.62, 0.42, 0.72, 0.32};
constexpr std::array kSaturation = {1.0, 0.45};

/// A component of a colour in HSL as red (`turn` 0), green (8) or blue (4); CSS Color Module Level 4, section 7.1.
int component(double turn, double hue, double saturation, double lightness) {
  const double k = std::fmod(turn + 12 * hue, 12);
  const double chroma = saturation * std::min(lightness, 1 - lightness);
  return static_cast<int>(std::floor(255 * (lightness - chroma * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0)) + 0.5));
}

}  // namespace

std::string series_colour(std::size_t number) {
  if (number < kFirstColours.size()) return kFirstColours[number];
  const auto n = number - kFirstColours.size();
  const double hue = std::fmod(kFirstTurn + static_cast<double>(n) * kGoldenTurn, 1);
  const double lightness = kLightness[n % kLightness.size()];
  const double saturation = kSaturation[n % kSaturation.size()];
  return fmt::format("#{:02x}{:02x}{:02x}", component(0, hue, saturation, lightness),
                     component(8, hue, saturation, lightness), component(4, hue, saturation, lightness));
}

}  // namespace eventloom
