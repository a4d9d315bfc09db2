#include "app/tools/bench/bench_options.hpp"

#include <algorithm>
#include <array>

#include "app/command/options.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

/// Writes the time in the largest unit that divides it.
std::string in_words(std::int64_t ns) {
  constexpr std::array kUnits = {std::pair(1'000'000'000, "s"), std::pair(1'000'000, "ms"), std::pair(1000, "us")};
  for (const auto& [length, name] : kUnits) {
    if (ns % length == 0) return std::to_string(ns / length) + name;
  }
  return std::to_string(ns) + "ns";
}

}  // namespace

std::vector<std::string> listed_words(const boost::program_options::variables_map& values, const char* option) {
  auto words = words_of(values[option].as<std::string>());
  if (words.empty()) throw UserError("--" + std::string(option) + " needs at least one value");
  return words;
}

std::vector<std::string> distinct_words(const boost::program_options::variables_map& values, const char* option) {
  std::vector<std::string> distinct;
  for (auto& word : words_of(values[option].as<std::string>())) {
    if (std::ranges::find(distinct, word) == distinct.end()) distinct.push_back(std::move(word));
  }
  return distinct;
}

std::int64_t nanoseconds_of(const char* option, const std::string& word, std::int64_t low, std::int64_t high) {
  constexpr std::uint64_t kPsOfNs = 1000;
  const auto ps = parsed(option, [&] { return parse_picoseconds(word); });
  const auto ns = static_cast<std::int64_t>(ps / kPsOfNs);
  if (ps % kPsOfNs == 0 && ns >= low && ns <= high) return ns;
  throw UserError("--" + std::string(option) + " must be from " + in_words(low) + " to " + in_words(high) +
                  " in whole nanoseconds, not " + word);
}

}  // namespace eventloom
