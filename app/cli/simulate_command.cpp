#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/file_plan.hpp"
#include "app/command/options.hpp"
#include "app/command/report_file.hpp"
#include "app/tools/bench/bench_report.hpp"
#include "app/tools/simulate/calibration.hpp"
#include "app/tools/simulate/optimised_schedule.hpp"
#include "app/tools/simulate/simulate_options.hpp"
#include "app/tools/simulate/simulation_plots.hpp"
#include "app/tools/simulate/simulation_report.hpp"
#include "app/tools/simulate/simulator.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Returns the conditions on which the numbers depend; equal simulations have equal setups.
Json setup_json(const std::string& effective_config, const std::optional<Calibration>& measured) {
  Json setup{{"eventloom", EVENTLOOM_VERSION}, {"configuration", effective_config}};
  if (measured) setup["calibration"] = to_json(*measured);
  return setup;
}

void check_files(const po::variables_map& values, const std::vector<SimulationSettings>& points) {
  FilePlan files;
  plan_config(files, values);
  for (const auto& point : points) plan_schedule(files, point.schedule);
  plan_topology(files, values);
  plan_optimise(files, values);
  plan_report(files, values["report-json"].as<std::string>(), "--report-json");
  if (const auto& plot = values["plot"].as<std::string>(); !plot.empty()) plan_plot(files, plot);
  files.check();
}

/// Draws the transfers only for the smallest number of nodes and the largest messages, per schedule: with more, they
/// cannot be distinguished.
void choose_pictures(std::vector<SimulationSettings>& points) {
  const auto fewest = std::ranges::min(points, {}, &SimulationSettings::nodes).nodes;
  const auto largest = std::ranges::max(points, {}, &SimulationSettings::message_bytes).message_bytes;
  for (auto& point : points) point.transfers = point.nodes == fewest && point.message_bytes == largest;
}

}  // namespace

int simulate_command(int argc, const char* const* argv) {
  CommandLine line("simulate",
                   "simulate [options]\nWhole runs, all to all, over a simulated network of many nodes: sources, "
                   "builders, rings, credits and schedules\nare those of 'run'; only the network is a model (SimGrid). "
                   "Rates are of the data that a node receives from others.");
  add_simulate_options(line.options());
  add_optimise_option(line.options());
  add_option_rows(line.options(), {{"report-json", text_value("FILE", "", "none"), "write setup and points as JSON"},
                                   {"plot", text_value("FILE", "", "none"),
                                    "draw the points to FILE.svg or FILE.png (needs gnuplot)"}});
  for (const char* file : {"optimise", "report-json", "plot"}) line.leave_out_of_setup(file);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  auto points = simulation_points(*values);
  const auto& plot = (*values)["plot"].as<std::string>();
  if (!plot.empty()) check_plot_file(plot);
  check_files(*values, points);
  if (!plot.empty()) choose_pictures(points);
  const auto simulator = Simulator::beside_this();
  const auto measured = calibrate(*values, points);
  auto optimised = optimise(simulator, *values, slots_option(*values), points);
  BenchReport report("simulate", simulation_columns(), setup_json(line.effective_config(*values), measured));
  SimulationPlots plots;
  std::map<std::uint32_t, PairRates> pairs;
  const auto done = [&](const SimulationSettings& point, const SimulationResult& result) {
    report.add(point_json(point, result));
    plots.add(point, result);
    pairs[point.nodes] = result.random_pairs;
    if (optimised) optimised->consider(point, result);
  };
  const auto refused = [&](const SimulationSettings& point, const std::string& why) {
    if (!optimised || !optimised->leave_out(point, why)) throw UserError(why);
  };
  simulator.run_all(points, done, refused);
  for (const auto& [nodes, rates] : pairs) report.note(pairs_line(nodes, rates));
  if (optimised) report.note(optimised->write());
  const auto& file = (*values)["report-json"].as<std::string>();
  if (!file.empty()) report.write_json(file);
  if (!plot.empty()) write_plot(plot, plots.plots());
  return kExitOk;
}

}  // namespace eventloom
