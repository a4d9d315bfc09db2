#include "app/command/same_setup.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "core/control/agreement.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/text_error.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

using Values = std::vector<std::string>;

/// Parses "name = value" lines to names, in order of first occurrence, with all their values.
std::vector<std::pair<std::string, Values>> settings_in(const std::string& text) {
  constexpr std::string_view kBetween = " = ";
  std::vector<std::pair<std::string, Values>> settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(kBetween);
    const auto name = line.substr(0, at);
    const auto value = at == std::string::npos ? "" : line.substr(at + kBetween.size());
    const auto known = std::ranges::find(settings, name, &std::pair<std::string, Values>::first);
    auto& values = known == settings.end() ? settings.emplace_back(name, Values{}).second : known->second;
    values.push_back(value);
  }
  return settings;
}

/// Shows options as typed; leaves other names unchanged.
std::string shown(const std::string& name) { return name.find(' ') == std::string::npos ? "--" + name : name; }

std::string value_at(const Values& values, std::size_t i) {
  return i < values.size() ? "'" + values[i] + "'" : "not given";
}

std::string difference(const std::string& name, const Values& first, const Values& other, int rank) {
  std::size_t i = 0;
  while (i < first.size() && i < other.size() && first[i] == other[i]) ++i;
  const std::string number = std::max(first.size(), other.size()) > 1 ? fmt::format(" number {}", i + 1) : "";
  return fmt::format("{}{} is {} on rank 0 and {} on rank {}", shown(name), number, value_at(first, i),
                     value_at(other, i), rank);
}

Values values_of(const std::string& name, const std::vector<std::pair<std::string, Values>>& settings) {
  const auto found = std::ranges::find(settings, name, &std::pair<std::string, Values>::first);
  return found == settings.end() ? Values{} : found->second;
}

[[noreturn]] void refuse_together(const std::string& why, const std::string& excerpt = {}) {
  leave_together();
  throw TextError(why, excerpt);
}

}  // namespace

// Distinguishes two builds of the same version.
std::string program_line() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream bytes;
  bytes.exceptions(std::ios::badbit | std::ios::failbit);  // if memory is short, a partial read must not
                                                           // pass for the program
  bytes << file.rdbuf();
  const auto text = std::move(bytes).str();
  return fmt::format("the program = eventloom {}, build {:08x}\n", EVENTLOOM_VERSION,
                     crc32c(std::as_bytes(std::span(text))));
}

std::string setup_difference(const std::string& first, const std::string& other, int rank) {
  const auto one = settings_in(first);
  const auto two = settings_in(other);
  for (const auto& settings : {one, two}) {
    for (const auto& [name, values] : settings) {
      const auto in_one = values_of(name, one);
      const auto in_two = values_of(name, two);
      if (in_one != in_two) return difference(name, in_one, in_two, rank);
    }
  }
  return "";
}

void require_same_setup(const Collective& ranks, const std::string& setup) {
  if (ranks.size() == 1) return;
  const std::array<std::uint64_t, 2> sum{setup.size(), crc32c(std::as_bytes(std::span(setup)))};
  if (!ranks.any(ranks.broadcast(sum) != sum)) return;
  const auto setups = ranks.all_gather(setup);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const auto found = setup_difference(setups.front(), setups[static_cast<std::size_t>(rank)], rank);
    if (!found.empty()) refuse_together(found + ": all ranks must have the same");
  }
}

void share_refusal(const Collective& ranks, const std::string& refusal, const std::string& excerpt) {
  const auto all = ranks.all_gather(refusal);
  const auto excerpts = ranks.all_gather(excerpt);
  const auto first = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
  if (first == all.end()) return;
  const bool of_all = std::ranges::all_of(all, [&](const std::string& text) { return text == *first; });
  const auto rank = first - all.begin();
  refuse_together(of_all ? *first : fmt::format("rank {}: {}", rank, *first), excerpts[static_cast<std::size_t>(rank)]);
}

}  // namespace eventloom
