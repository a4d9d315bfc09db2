#include "core/definitions/definitions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/definitions/cluster.hpp"
#include "core/definitions/coincidence.hpp"
#include "core/definitions/definition_values.hpp"
#include "core/definitions/fixed.hpp"
#include "core/definitions/gap.hpp"
#include "core/definitions/multiplicity.hpp"
#include "core/definitions/tag.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/definitions/text_parts.hpp"
#include "core/definitions/trigger.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/setting.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

/// Description of a kind of definition.
struct Entry {
  std::string_view usage;  ///< the kind's name, a colon and its values
  std::string_view event;  ///< definition of an event
  std::size_t min_values;
  std::size_t max_values;
  EventDefinitionPtr (*make)(const DefinitionValues& values);
};

template <class D>
EventDefinitionPtr make(const DefinitionValues& values) {
  return std::make_shared<D>(values);
}

template <class D>
constexpr Entry entry() {
  return {D::kUsage, D::kEvent, D::kMinValues, D::kMaxValues, make<D>};
}

constexpr std::array kDefinitions = {
    entry<Gap>(),   entry<Multiplicity>(), entry<Coincidence>(), entry<Trigger>(),
    entry<Fixed>(), entry<Cluster>(),      entry<Tag>(),
};

std::string_view kind_of(const Entry& entry) { return entry.usage.substr(0, entry.usage.find(':')); }

std::string described(const Entry& entry) {
  return std::string(entry.usage) + ": " + fmt::format(fmt::runtime(entry.event), name_of(Setting::filter));
}

[[noreturn]] void reject(std::string_view given, const RunTicks& ticks, const TextMistake& mistake,
                         const std::string& expected) {
  throw TextError(name_of(Setting::define) + " '" + shortened(given) + "': " + mistake.what() + "; expected " +
                      expected +
                      (ticks.numbered ? " (lengths in event numbers, without a unit)"
                                      : " (lengths of time in ticks or with a unit, as in 25ns)"),
                  marked(given, mistake.where()));
}

[[noreturn]] void reject_kind(std::string_view given, const RunTicks& ticks, std::string_view name) {
  std::vector<std::string_view> kinds;
  for (const auto& entry : kDefinitions) kinds.push_back(kind_of(entry));
  const auto named = name.empty() ? std::string("an event definition is missing")
                                  : in_quotes(name) + " is not an event definition" + did_you_mean(name, kinds);
  reject(given, ticks, {name, named}, definition_usage());
}

std::vector<std::string_view> values_of(std::string_view text, const Entry& entry) {
  const auto colon = text.find(':');
  auto values = colon == std::string_view::npos ? std::vector<std::string_view>() : split_list(text.substr(colon + 1));
  if (values.size() > entry.max_values)
    throw TextMistake(values[entry.max_values], "a value more than " + std::string(kind_of(entry)) + " takes");
  if (values.size() < entry.min_values) throw TextMistake(text.substr(text.size()), "a value is missing");
  for (const auto value : values) {
    if (value.empty()) throw TextMistake(value, "a value is missing");
  }
  return values;
}

}  // namespace

EventDefinitionPtr parse_event_definition(std::string_view given, const RunTicks& ticks, const DetectorPtr& detector,
                                          std::size_t begin) {
  const auto text = given.substr(begin);
  const auto name = split_once(text, ':').first;
  const auto* const found = std::ranges::find(kDefinitions, name, kind_of);
  if (found == kDefinitions.end()) reject_kind(given, ticks, name);
  try {
    return found->make({values_of(text, *found), ticks, detector});
  } catch (const TextMistake& mistake) {
    reject(given, ticks, mistake, described(*found));
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
