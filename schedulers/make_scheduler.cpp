#include "schedulers/make_scheduler.hpp"

#include <array>
#include <stdexcept>
#include <string_view>

#include "schedulers/balanced.hpp"
#include "schedulers/chaotic.hpp"
#include "schedulers/round_robin.hpp"
#include "schedulers/table.hpp"
#include "schedulers/unshifted.hpp"

namespace eventloom {

namespace {

template <class S>
std::unique_ptr<Scheduler> make(const ScheduleSettings& settings) {
  return std::make_unique<S>(settings);
}

/// A `name` that ends in a colon takes an argument.
struct Entry {
  std::string_view name;
  std::unique_ptr<Scheduler> (*make)(const ScheduleSettings& settings);
};
constexpr std::array kSchedulers = {
    Entry{"round-robin", make<RoundRobin>}, Entry{"chaotic", make<Chaotic>},     Entry{"balanced", make<Balanced>},
    Entry{"table:", make<Table>},           Entry{"unshifted", make<Unshifted>},
};

bool is_called(const Entry& entry, std::string_view name) {
  return entry.name.ends_with(':') ? name.starts_with(entry.name) && name != entry.name : name == entry.name;
}

std::string display_name(const Entry& entry) {
  return std::string(entry.name) + (entry.name.ends_with(':') ? "FILE" : "");
}

}  // namespace

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const auto& entry : kSchedulers) names.push_back(display_name(entry));
  return names;
}

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& settings) {
  std::string known;
  for (const auto& entry : kSchedulers) {
    known += (known.empty() ? "" : ", ") + display_name(entry);
    if (!is_called(entry, settings.name)) continue;
    auto scheduler = entry.make(settings);
    if (settings.slot_ns != 0 && scheduler->slot_ns() != settings.slot_ns) {
      throw std::invalid_argument("schedule '" + settings.name + "' has no slots; omit --slot");
    }
    return scheduler;
  }
  throw std::invalid_argument("unknown schedule '" + settings.name + "'; known are: " + known);
}

}  // namespace eventloom
