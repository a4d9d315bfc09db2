#include "core/definitions/definitions.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/definitions/expression.hpp"
#include "core/definitions/gap.hpp"
#include "core/definitions/multiplicity.hpp"
#include "core/definitions/tag.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Description of a kind of definition.
struct Entry {
  std::string_view usage;  ///< its name, and after a colon its values
  std::string_view event;  ///< what an event is
  /// `values`: those after the colon. Throws std::invalid_argument that says what is wrong with them.
  EventDefinitionPtr (*make)(std::span<const std::string_view> values, std::uint64_t tick_ps);
};

template <class D>
EventDefinitionPtr make(std::span<const std::string_view> values, std::uint64_t tick_ps) {
  return std::make_shared<D>(values, tick_ps);
}

template <class D>
constexpr Entry entry() {
  return {D::kUsage, D::kEvent, make<D>};
}

constexpr std::array kDefinitions = {
    entry<Gap>(),
    entry<Multiplicity>(),
    entry<Tag>(),
};

std::string_view kind_of(const Entry& entry) { return entry.usage.substr(0, entry.usage.find(':')); }

std::string described(const Entry& entry) { return std::string(entry.usage) + ": " + std::string(entry.event); }

[[noreturn]] void reject(std::string_view text, const std::string& why, const std::string& expected) {
  throw UserError("--define '" + std::string(text) + "': " + why + "; expected " + expected +
                  " (lengths of time in ticks or with a unit, as in 25ns)");
}

}  // namespace

EventDefinitionPtr parse_event_definition(std::string_view text, std::uint64_t tick_ps) {
  const auto [name, rest] = split_once(text, ':');
  const auto* const found = std::ranges::find(kDefinitions, name, kind_of);
  if (found == kDefinitions.end()) reject(text, "not an event definition", definition_usage());
  try {
    const bool has_values = text.find(':') != std::string_view::npos;
    return found->make(has_values ? split_list(rest) : std::vector<std::string_view>(), tick_ps);
  } catch (const std::invalid_argument& error) {
    reject(text, error.what(), described(*found));
  }
}

std::string definition_usage() {
  std::string all;
  for (const auto& entry : kDefinitions) all.append(all.empty() ? "" : " or ").append(entry.usage);
  return all;
}

std::string definition_help() {
  std::string all;
  for (const auto& entry : kDefinitions) all.append(all.empty() ? "" : "\n").append(described(entry));
  return all;
}

}  // namespace eventloom
