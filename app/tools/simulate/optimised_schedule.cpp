#include "app/tools/simulate/optimised_schedule.hpp"

#include <algorithm>
#include <utility>

#include "app/command/options.hpp"
#include "core/fabric/phases.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/partial_file.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::string_view kFirstLine = "# Schedule made by eventloom simulate --optimise";

bool is_optimised_schedule(const std::filesystem::path& file) {
  return head_of(file, kFirstLine.size() + 1) == std::string(kFirstLine) + '\n';
}

std::uint64_t slot_of_table(const SimulationSettings& point) {
  ScheduleSettings settings;
  settings.name = point.schedule;
  settings.table_text = point.table_text;
  settings.n_sources = settings.n_builders = point.ranks();
  return make_scheduler(settings)->slot_ns();
}

void check_one_case(const std::vector<SimulationSettings>& points) {
  const auto& first = points.front();
  const bool one = std::ranges::all_of(points, [&](const SimulationSettings& point) {
    return point.nodes == first.nodes && point.message_bytes == first.message_bytes;
  });
  if (!one) throw UserError("--optimise makes one schedule; give one number with --nodes and one with --sizes");
}

/// Step lengths to try, in ns: 0, for the order alone; the time to transfer the bytes plus a margin that lets sources
/// catch up; the time until a source learns of the end, with and without a margin; and the requested lengths.
std::vector<std::uint64_t> steps_to_try(const std::vector<SimulatedSlots>& slots, const PlatformPhases& found) {
  const auto fit = found.step_ns;
  std::vector<std::uint64_t> steps{0, found.bytes_ns + found.bytes_ns / 100, fit, fit + fit / 25};
  for (const auto& of : slots) {
    if (of.ns != 0) steps.push_back(of.ns / found.phases.steps_per_transfer);
  }
  return steps;
}

std::string links_of(const SimulationSettings& settings) {
  std::string text;
  for (const auto& link : settings.slow_links) text += fmt::format(" --slow-link {}:{}", link.name, link.factor);
  for (const auto& link : settings.dead_links) text += " --dead-link " + link;
  return text;
}

}  // namespace

void add_optimise_option(po::options_description& options) {
  options.add_options()("optimise", text_value("FILE", "", "none"),
                        "search a schedule for this network in which no link must carry more than it can, simulate it "
                        "as well, and write it to FILE for --schedule table:FILE of 'run'");
}

void plan_optimise(FilePlan& files, const po::variables_map& values) {
  const auto& file = values["optimise"].as<std::string>();
  if (!file.empty()) files.write(file, "--optimise", is_optimised_schedule, FilePlan::Existing::replace);
}

OptimisedSchedule::OptimisedSchedule(const Simulator& simulator, std::string file,
                                     const std::vector<SimulationSettings>& points,
                                     const std::vector<SimulatedSlots>& slots)
    : file_(std::move(file)) {
  check_one_case(points);
  const auto found = simulator.phases(points.front());
  phases_ = found.phases;
  log::info("{} steps for the transfers of a cycle; the busiest link or node needs {}", phases_.steps, phases_.least);
  for (const auto step_ns : steps_to_try(slots, found)) {
    auto point = points.front();
    point.schedule = "table:" + file_;
    point.table_text = table_text(phases_, step_ns);
    point.fit_slots = false;
    point.slot_ns = slot_of_table(point);
    points_.push_back(std::move(point));
  }
}

void OptimisedSchedule::consider(const SimulationSettings& point, const SimulationResult& result) {
  if (point.schedule != points_.front().schedule) return;
  const double share = result.rate(point.nodes) / result.ideal_rate;
  if (share <= best_share_) return;
  best_share_ = share;
  best_name_ = result.slot_ns == 0 ? "order alone" : fmt::format("slots of {:.1f} us", result.slot_ns / 1000.0);
  best_text_ = heading(point) + point.table_text;
}

bool OptimisedSchedule::leave_out(const SimulationSettings& point, const std::string& why) const {
  if (point.schedule != points_.front().schedule || point.slot_ns == 0) return false;
  log::info("{}, slots of {:.1f} us left out: {}", point.schedule, point.slot_ns / 1000.0, why);
  return true;
}

std::string OptimisedSchedule::heading(const SimulationSettings& point) const {
  return fmt::format(
      "{}\n# --nodes {} --ranks-per-node {} --topology {}{} --sizes {} --seed {}\n# {} steps, of which the busiest "
      "link "
      "or node needs {}; {}: {:.1f} % of what the links allow\n",
      kFirstLine, point.nodes, point.ranks_per_node, point.topology, links_of(point), point.message_bytes, point.seed,
      phases_.steps, phases_.least, best_name_, 100 * best_share_);
}

std::string OptimisedSchedule::write() const {
  write_text_file(file_, best_text_, is_optimised_schedule);
  return fmt::format("{}: {} steps, {} needed at least; {}", file_, phases_.steps, phases_.least, best_name_);
}

std::optional<OptimisedSchedule> optimise(const Simulator& simulator, const po::variables_map& values,
                                          const std::vector<SimulatedSlots>& slots,
                                          std::vector<SimulationSettings>& points) {
  const auto& file = values["optimise"].as<std::string>();
  if (file.empty()) return std::nullopt;
  std::optional<OptimisedSchedule> schedule(std::in_place, simulator, file, points, slots);
  points.insert(points.end(), schedule->points().begin(), schedule->points().end());
  return schedule;
}

}  // namespace eventloom
