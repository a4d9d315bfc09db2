#include "app/document/tick_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr int kDigitsOfDouble = 17;
constexpr int kReadableDigits = 6;

int decade_of(double number) { return static_cast<int>(std::floor(std::log10(std::abs(number)) + 1e-9)); }

}  // namespace

int digits_between(std::span<const double> numbers, int least) {
  int digits = least;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const double step = numbers[i] - numbers[i - 1];
    const double greatest = std::max(std::abs(numbers[i]), std::abs(numbers[i - 1]));
    if (step > 0 && greatest > 0) digits = std::max(digits, decade_of(greatest) - decade_of(step) + 1);
  }
  return std::min(digits, kDigitsOfDouble);
}

std::vector<double> even_ticks(double low, double high, int count, double least) {
  constexpr double kSlackOfStep = 1e-9;
  const double rough = std::max((high - low) / count, least);
  std::vector<double> ticks;
  if (!(high > low) || !(rough > 0) || !std::isfinite(rough)) return ticks;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double step = decade * (rough < 1.5 * decade ? 1 : rough < 3 * decade ? 2 : rough < 7 * decade ? 5 : 10);
  const double first = std::ceil(low / step - kSlackOfStep);
  // The next number may not be representable, so the loop needs its own limit.
  for (int i = 0; i <= 2 * count && (first + i) * step <= high + step * kSlackOfStep; ++i)
    ticks.push_back((first + i) * step);
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

std::vector<std::string> tick_texts(std::span<const double> ticks) {
  const int digits = digits_between(ticks, kReadableDigits);
  const double most = ticks.empty() ? 0 : std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  const bool prefixed = digits == kReadableDigits;
  const auto [unit, prefix] = prefixed && most >= 1e9   ? std::pair(1e9, "G")
                              : prefixed && most >= 1e6 ? std::pair(1e6, "M")
                              : prefixed && most >= 1e4 ? std::pair(1e3, "k")
                                                        : std::pair(1.0, "");
  std::vector<std::string> texts;
  for (const double tick : ticks)
    texts.push_back(tick == 0 ? "0" : fmt::format("{:.{}g}{}", tick / unit, digits, prefix));
  return texts;
}

}  // namespace eventloom
