#include "app/command/realtime.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "app/command/options.hpp"
#include "app/command/rank_places.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/cores.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/realtime.hpp"

namespace eventloom {

namespace {

constexpr std::array kSteps = {"memory is not locked", "no SCHED_FIFO", "not bound to a core"};

/// Outcomes on this rank, in the order of kSteps.
struct Outcome {
  std::array<RealtimeRefusal, kSteps.size()> steps;
  RankRealtime in_force;
};

std::string rank_list(const std::vector<int>& ranks) {
  if (ranks.empty()) return "none";
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_of(ranks);
}

/// Must follow all other changes of the affinity: `places` says where the launcher has put the ranks.
RealtimeRefusal bind(const std::vector<RankPlace>& places, const HostPlaces& host, int rank, std::size_t threads,
                     std::string& bound) {
  const auto& place = places[static_cast<std::size_t>(rank)];
  if (place.cores.size() == 1) {
    bound = place.cpus;
    return {};
  }
  if (threads > 1) return {"its threads need several cores", ""};
  std::vector<std::set<std::string>> allowed;
  for (const int each : host.ranks) allowed.push_back(places[static_cast<std::size_t>(each)].cores);
  const auto index = std::ranges::find(host.ranks, rank) - host.ranks.begin();
  const auto core = core_of_each(allowed)[static_cast<std::size_t>(index)];
  if (core.empty() || host.without_core != 0) return {crowding({host}), "use no more ranks than cores"};
  const auto cpus = cpus_of(core, allowed_cpus());
  auto refusal = pin_to(cpus);
  if (!refusal.refused()) bound = ranges_of(cpus);
  return refusal;
}

/// SCHED_FIFO comes last: nothing else may go wrong while a rank keeps its core.
Outcome apply(const std::vector<RankPlace>& places, const HostPlaces& host, int rank, std::size_t threads) {
  Outcome outcome;
  auto& [memory, fifo, bound] = outcome.steps;
  memory = lock_all_memory();
  outcome.in_force.memory_locked = !memory.refused();
  bound = bind(places, host, rank, threads, outcome.in_force.cpus);
  const auto cores = host.without_core == 0 ? host.cores.size() : host.ranks.size() - host.without_core;
  fifo = fifo_danger({host.ranks.size(), threads, cores, left_to_others()});
  if (!fifo.refused()) fifo = use_fifo();
  outcome.in_force.fifo = !fifo.refused();
  return outcome;
}

using Outcomes = std::vector<std::vector<std::string>>;  ///< one list per rank, see texts_of()

/// Reason and fix of each step, then the state in force.
std::vector<std::string> texts_of(const Outcome& outcome) {
  std::vector<std::string> texts;
  for (const auto& step : outcome.steps) texts.insert(texts.end(), {step.why, step.fix});
  const auto& now = outcome.in_force;
  texts.insert(texts.end(), {now.memory_locked ? "1" : "", now.fifo ? "1" : "", now.cpus});
  return texts;
}

/// One line per step and reason, with the ranks.
std::vector<std::string> refusals(const Outcomes& outcomes) {
  std::vector<std::string> lines;
  for (std::size_t step = 0; step < kSteps.size(); ++step) {
    std::map<std::pair<std::string, std::string>, std::vector<int>> ranks;
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
      const auto& why = outcomes[r][2 * step];
      if (!why.empty()) ranks[{why, outcomes[r][2 * step + 1]}].push_back(static_cast<int>(r));
    }
    for (const auto& [text, of] : ranks) {
      const auto& [why, fix] = text;
      lines.push_back(
          fmt::format("--realtime: {} ({}): {}{}", kSteps.at(step), rank_list(of), why, fix.empty() ? "" : "; " + fix));
    }
  }
  return lines;
}

template <class Property>
std::string ranks_with(const std::vector<RankRealtime>& ranks, Property property) {
  std::vector<int> with;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (property(ranks[r])) with.push_back(static_cast<int>(r));
  }
  return rank_list(with);
}

const HostPlaces& host_of(const std::vector<HostPlaces>& hosts, int rank) {
  return *std::ranges::find_if(hosts, [&](const HostPlaces& h) { return std::ranges::count(h.ranks, rank) != 0; });
}

bool anything(const RankRealtime& rank) { return rank.memory_locked || rank.fifo || !rank.cpus.empty(); }

}  // namespace

void add_realtime_option(boost::program_options::options_description& options) {
  add_option_rows(options, {{"realtime", boost::program_options::bool_switch(),
                             "lock memory, schedule by SCHED_FIFO and bind each rank to a core; one line names each "
                             "step that the system refuses. See 'eventloom doctor'"}});
}

std::vector<RankRealtime> apply_realtime(const Collective& ranks, std::size_t threads) {
  const auto places = rank_places(ranks);
  const auto hosts = hosts_of(places);
  const auto outcome = apply(places, host_of(hosts, ranks.rank()), ranks.rank(), threads);
  const auto outcomes = ranks.all_gather(texts_of(outcome));
  std::vector<RankRealtime> in_force;
  for (const auto& texts : outcomes) {
    const auto* now = texts.data() + 2 * kSteps.size();
    in_force.push_back({!now[0].empty(), !now[1].empty(), now[2]});
  }
  if (ranks.rank() == 0) {
    for (const auto& line : refusals(outcomes)) log::warn("{}", line);
  }
  if (std::ranges::none_of(in_force, anything)) {
    leave_together();
    throw UserError("--realtime: the system allows none of its steps; 'eventloom doctor' shows how to allow them");
  }
  return in_force;
}

Json to_json(const std::vector<RankRealtime>& ranks) {
  auto json = Json::array();
  for (const auto& rank : ranks) {
    json.push_back({{"memory_locked", rank.memory_locked},
                    {"fifo", rank.fifo},
                    {"cpus", rank.cpus.empty() ? Json() : Json(rank.cpus)}});
  }
  return json;
}

std::vector<RankRealtime> realtime_of(const Json& json) {
  std::vector<RankRealtime> ranks;
  for (const auto& rank : json) {
    const auto& cpus = rank.at("cpus");
    ranks.push_back({rank.at("memory_locked"), rank.at("fifo"), cpus.is_null() ? "" : cpus.get<std::string>()});
  }
  return ranks;
}

std::string summary_of(const std::vector<RankRealtime>& ranks) {
  return "memory locked: " + ranks_with(ranks, [](const auto& rank) { return rank.memory_locked; }) +
         "; SCHED_FIFO: " + ranks_with(ranks, [](const auto& rank) { return rank.fifo; }) +
         "; bound to a core: " + ranks_with(ranks, [](const auto& rank) { return !rank.cpus.empty(); });
}

}  // namespace eventloom
