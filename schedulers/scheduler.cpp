#include "schedulers/scheduler.hpp"

#include <array>
#include <stdexcept>

#include "schedulers/chaotic.hpp"
#include "schedulers/round_robin.hpp"

namespace eventloom {

namespace {

template <class S>
std::unique_ptr<Scheduler> make(std::uint32_t n_builders) {
  return std::make_unique<S>(n_builders);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Scheduler> (*make)(std::uint32_t n_builders);
};
constexpr std::array kSchedulers = {Entry{"round-robin", make<RoundRobin>}, Entry{"chaotic", make<Chaotic>}};

}  // namespace

std::vector<std::string_view> scheduler_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kSchedulers) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, std::uint32_t n_builders) {
  std::string known;
  for (const auto& entry : kSchedulers) {
    if (entry.name == name) return entry.make(n_builders);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::invalid_argument("unknown schedule '" + std::string(name) + "'; there are: " + known);
}

}  // namespace eventloom
