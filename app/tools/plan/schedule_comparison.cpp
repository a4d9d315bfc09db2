#include "app/tools/plan/schedule_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/plan/reasons.hpp"
#include "app/tools/simulate/optimised_schedule.hpp"
#include "app/tools/simulate/simulate_options.hpp"
#include "app/tools/simulate/simulation_report.hpp"
#include "app/tools/simulate/simulator.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom {

namespace {

/// Returns the schedules that need no file.
std::vector<std::string> built_in_schedules() {
  auto names = scheduler_names();
  std::erase_if(names, [](const std::string& name) { return name.find(':') != std::string::npos; });
  return names;
}

/// Returns the size of the planned epoch buffers if it is known and --sizes is not given; otherwise the given sizes.
std::vector<std::uint64_t> sizes_for(const boost::program_options::variables_map& values, const Plan& plan) {
  const auto planned = buffer_bytes(plan.request, plan.choice.epochs_per_slice);
  if (!planned || !values["sizes"].defaulted()) return message_sizes(values);
  return {static_cast<std::uint64_t>(std::max(std::llround(*planned), 1LL))};
}

std::vector<SimulationSettings> points_for(const boost::program_options::variables_map& values, const Plan& plan) {
  if (plan.request.nodes < 2) throw UserError("--simulate needs --nodes 2 or more: between them is the network");
  auto settings = network_settings(values);
  settings.nodes = plan.request.nodes;
  settings.slices_in_flight = plan.choice.slices_in_flight;
  const auto orders = orders_of(built_in_schedules(), {{}, {.ns = 0, .fit = true}});
  return points_of(settings, orders, sizes_for(values, plan), {plan.choice.ring.depth, plan.choice.ring.cell_size});
}

struct Compared {
  SimulatedSchedule schedule;
  std::string name;
};

/// Returns the best schedule and its runner-up among messages of the same size. The first of equals wins.
SimulatedSchedule best_of(const std::vector<Compared>& all) {
  const auto share = [](const Compared& one) { return one.schedule.share; };
  const auto best = std::ranges::max_element(all, {}, share);
  auto chosen = best->schedule;
  for (auto other = all.begin(); other != all.end(); ++other) {
    const auto& schedule = other->schedule;
    if (other == best || schedule.message_bytes != chosen.message_bytes || schedule.share <= chosen.next_share)
      continue;
    chosen.next = other->name;
    chosen.next_share = schedule.share;
  }
  return chosen;
}

}  // namespace

ScheduleComparison compare_schedules(const boost::program_options::variables_map& values, const Plan& plan,
                                     bool table) {
  auto points = points_for(values, plan);
  const auto simulator = Simulator::beside_this();
  ScheduleComparison comparison;
  comparison.measured = calibrate(values, points);
  auto optimised = optimise(simulator, values, {}, points);
  BenchReport report("plan", simulation_columns(), {});
  std::vector<Compared> compared;
  std::string left_out;
  const auto done = [&](const SimulationSettings& point, const SimulationResult& result) {
    auto json = point_json(point, result);
    if (optimised) optimised->consider(point, result);
    if (table) report.add(json);
    SimulatedSchedule schedule{point.schedule, result.slot_ns, point.message_bytes, json["share"]};
    schedule.ideal_rate = result.ideal_rate;
    compared.push_back({schedule, name_of(point, result)});
    comparison.points.push_back(std::move(json));
  };
  // A message may be too short for a slot; the plan then continues without this point.
  const auto refused = [&](const SimulationSettings& point, const std::string& why) {
    if (optimised && optimised->leave_out(point, why)) return;
    if (!point.fit_slots) throw UserError(why);
    left_out += (left_out.empty() ? "" : "; ") + point.schedule + " with slots for " +
                in_bytes(static_cast<double>(point.message_bytes)) + ": " + why;
    log::warn("left out: {} with slots for messages of {} bytes: {}", point.schedule, point.message_bytes, why);
  };
  simulator.run_all(points, done, refused);
  comparison.best = best_of(compared);
  comparison.best.left_out = left_out;
  if (optimised) {
    const auto line = optimised->write();
    if (table) report.note(line);
  }
  return comparison;
}

}  // namespace eventloom
