#pragma once

#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// Returns how many significant digits distinguish neighbours of ascending `numbers`: at least `least`, at most 17.
int digits_between(std::span<const double> numbers, int least);

/// Returns the multiples of 1, 2 or 5 times a power of ten in [low, high], about `count` of them; at most as many as
/// leave a distance of `least` between neighbours.
std::vector<double> even_ticks(double low, double high, int count, double least = 0);

/// Returns the labels of ascending ticks, no two of them equal. All have the same prefix (k, M, G), or none where
/// a prefix would not shorten them.
std::vector<std::string> tick_texts(std::span<const double> ticks);

}  // namespace eventloom
