#include "formats/duration_text.hpp"

#include <array>
#include <limits>
#include <utility>

namespace eventloom {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::array<std::pair<const char*, std::uint64_t>, 5> kUnits = {
    {{"ps", 1}, {"ns", 1000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}}};

}  // namespace

std::string duration_text(Tick ticks, std::uint64_t tick_ps) {
  const Wide ps = Wide{ticks.value} * tick_ps;
  std::size_t u = kUnits.size() - 1;
  while (u > 0 && ps < kUnits[u].second) --u;
  const auto& [unit, unit_ps] = kUnits[u];
  const Wide whole = ps / unit_ps;
  if (whole > std::numeric_limits<std::uint64_t>::max()) return "more than 10^19s";
  std::string text = std::to_string(static_cast<std::uint64_t>(whole));
  auto rest = static_cast<std::uint64_t>(ps % unit_ps);
  if (rest != 0) text += '.';
  for (std::uint64_t digit = unit_ps / 10; rest != 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
  return text + unit;
}

}  // namespace eventloom
