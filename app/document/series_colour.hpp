#pragma once

#include <cstddef>
#include <string>

namespace eventloom {

/// Returns the colour of a source, a group or a series by its number, as "#rrggbb". No two of the first 64 look alike.
/// The first seven are the colours of Okabe and Ito, distinguishable to the colour-blind, and a grey; the page draws
/// the others in the same colours (colours.js).
std::string series_colour(std::size_t number);

/// Number of the colour of a group; grey, the last of the first seven, is that of hits without a group.
inline constexpr std::size_t kNoGroupColour = 6;
constexpr std::size_t colour_number_of_group(std::size_t group) { return group < kNoGroupColour ? group : group + 1; }

}  // namespace eventloom
