#include "core/fabric/phases.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

#include "core/fabric/timetable.hpp"
#include "core/fabric/workload.hpp"

namespace eventloom {

namespace {

/// A timetable with `steps` steps in which all transfers have a place; std::nullopt if none is found.
std::optional<Timetable> timetable_of(const Workload& work, std::uint32_t steps, std::uint64_t seed) {
  constexpr std::uint64_t kMovesInAll = 1U << 18;
  constexpr std::uint64_t kLeastMoves = 1U << 12;
  const auto moves = std::clamp<std::uint64_t>(16 * work.jobs.size(), kLeastMoves, kMovesInAll);
  std::mt19937_64 seeds(seed);
  for (std::uint64_t done = 0; done < kMovesInAll; done += moves) {
    Timetable timetable(work, steps, seeds());
    if (timetable.settle(moves)) return timetable;
  }
  return std::nullopt;
}

/// Places transfers within a node in steps in which their source sends nothing else, while there are any.
void place_local(Phases& phases, const Workload& work, const std::vector<std::uint8_t>& over_network) {
  const auto n = phases.ends;
  std::vector<std::uint8_t> sends(std::size_t{n} * phases.steps);
  for (const auto& job : work.jobs) {
    const auto begin = phases.begins[job.source * n + job.builder];
    std::fill_n(sends.begin() + static_cast<std::ptrdiff_t>(std::size_t{job.source} * phases.steps + begin), job.steps,
                1);
  }
  for (std::uint32_t source = 0; source < n; ++source) {
    std::uint32_t step = 0;
    for (std::uint32_t builder = 0; builder < n; ++builder) {
      if (over_network[source * n + builder] != 0) continue;
      while (step < phases.steps && sends[std::size_t{source} * phases.steps + step] != 0) ++step;
      phases.begins[source * n + builder] = step < phases.steps ? step++ : builder % std::max(phases.steps, 1U);
    }
  }
}

}  // namespace

Phases search_phases(const FabricRoutes& fabric, std::uint32_t ranks_per_node, std::uint64_t seed) {
  const Workload work(fabric, ranks_per_node);
  Phases phases{work.ends, work.steps_per_transfer, 0, work.least_steps(), {}};
  phases.begins.resize(std::size_t{work.ends} * work.ends);
  std::vector<std::uint8_t> over_network(phases.begins.size());
  for (std::uint32_t more = 0;; more += std::max(1U, more / 4)) {
    phases.steps = std::max(phases.least + more, 1U);
    const auto timetable = timetable_of(work, phases.steps, seed);
    if (!timetable) continue;
    for (std::size_t job = 0; job < work.jobs.size(); ++job) {
      const auto pair = work.jobs[job].source * work.ends + work.jobs[job].builder;
      phases.begins[pair] = timetable->begins()[job];
      over_network[pair] = 1;
    }
    break;
  }
  place_local(phases, work, over_network);
  return phases;
}

std::string table_text(const Phases& phases, std::uint64_t step_ns) {
  std::vector<std::uint32_t> pairs(phases.begins.size());
  std::iota(pairs.begin(), pairs.end(), 0U);
  const auto order = [&](std::uint32_t pair) { return std::tuple(phases.begins[pair], pair); };
  std::ranges::sort(pairs, {}, order);
  std::string text = "# time,size,source,destination\n";
  for (const auto pair : pairs) {
    text += std::to_string(phases.begins[pair] * step_ns) + ",0," + std::to_string(pair / phases.ends) + ',' +
            std::to_string(pair % phases.ends) + '\n';
  }
  if (step_ns != 0) text += "period," + std::to_string(phases.steps * step_ns) + '\n';
  return text;
}

}  // namespace eventloom
