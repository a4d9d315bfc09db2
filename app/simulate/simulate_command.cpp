#include "app/simulate/simulate_command.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/bench/bench_report.hpp"
#include "app/command_line.hpp"
#include "app/file_options.hpp"
#include "app/file_plan.hpp"
#include "app/options.hpp"
#include "app/report_file.hpp"
#include "app/simulate/simulate_options.hpp"
#include "app/simulate/simulation_plots.hpp"
#include "app/simulate/simulator.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::json;

std::vector<BenchColumn> columns() {
  return {{"nodes", "nodes", "", 0},
          {"schedule", "schedule", "", 0},
          {"slot_us", "slot", "us", 1},
          {"message_bytes", "message", "bytes", 0},
          {"rate_bytes_per_us", "rate", "bytes/us", 0},
          {"ideal_bytes_per_us", "ideal", "bytes/us", 0},
          {"share", "share", "%", 1},
          {"/spent/network", "network", "%", 0},
          {"/spent/credits", "credits", "%", 0},
          {"/spent/slots", "slots", "%", 0},
          {"/spent/builders", "builders", "%", 0},
          {"/spent/idle", "idle", "%", 0},
          {"/links/0/share", "hot link", "%", 0},
          {"/links/0/name", "its name", "", 0}};
}

Json spent_json(const SimulationResult& result) {
  Json spent;
  for (std::size_t i = 0; i < result.spent.size(); ++i) spent[std::string(kSpentNames[i])] = result.spent[i];
  return spent;
}

Json point_json(const SimulationSettings& settings, const SimulationResult& result) {
  const double rate = result.rate(settings.nodes) * 1e-6;
  const double ideal = result.ideal_rate * 1e-6;
  Json links = Json::array();
  for (const auto& link : result.links) links.push_back({{"name", link.name}, {"share", link.share}});
  Json point{{"nodes", settings.nodes},
             {"ranks_per_node", settings.ranks_per_node},
             {"schedule", settings.schedule},
             {"message_bytes", settings.message_bytes},
             {"rate_bytes_per_us", rate},
             {"ideal_bytes_per_us", ideal},
             {"share", rate / ideal},
             {"seconds", result.seconds},
             {"messages", result.messages},
             {"bytes_sent", result.sent},
             {"bytes_delivered", result.delivered},
             {"bytes_over_network", result.over_network},
             {"transfers",
              {{"n", result.transfers},
               {"mean_us", result.transfer_mean * 1e6},
               {"min_us", result.transfer_min * 1e6},
               {"max_us", result.transfer_max * 1e6}}},
             {"spent", spent_json(result)},
             {"links", links}};
  if (result.slot_ns != 0) point["slot_us"] = static_cast<double>(result.slot_ns) / 1000;
  return point;
}

/// What the numbers depend on; nothing that differs between two simulations of the same.
Json setup_json(const std::string& effective_config) {
  return {{"eventloom", EVENTLOOM_VERSION}, {"configuration", effective_config}};
}

void check_files(const po::variables_map& values, const std::vector<SimulationSettings>& points) {
  FilePlan files;
  plan_config(files, values);
  for (const auto& point : points) plan_schedule(files, point.schedule);
  const auto& topology = points.front().topology;
  if (std::filesystem::is_regular_file(topology)) files.read(topology, "--topology");
  plan_report(files, values["report-json"].as<std::string>(), "--report-json");
  if (const auto& plot = values["plot"].as<std::string>(); !plot.empty()) plan_plot(files, plot);
  files.check();
}

/// Transfers of the fewest nodes are drawn, for each schedule with the largest messages: more are not to be told apart.
void choose_pictures(std::vector<SimulationSettings>& points) {
  const auto fewest = std::ranges::min(points, {}, &SimulationSettings::nodes).nodes;
  const auto largest = std::ranges::max(points, {}, &SimulationSettings::message_bytes).message_bytes;
  for (auto& point : points) point.transfers = point.nodes == fewest && point.message_bytes == largest;
}

/// Before the first simulation, which may take minutes.
void check_platforms(const Simulator& simulator, const std::vector<SimulationSettings>& points) {
  std::set<std::uint32_t> checked;
  for (const auto& point : points) {
    if (checked.insert(point.nodes).second) simulator.check(point);
  }
}

}  // namespace

int simulate_command(int argc, const char* const* argv) {
  CommandLine line("simulate",
                   "simulate [options]\nWhole runs, all to all, over a simulated network of many nodes: sources, "
                   "builders, rings, credits and schedules\nare those of 'run'; only the network is a model (SimGrid). "
                   "Rates are of the data that a node receives from others.");
  add_simulate_options(line.options());
  line.options().add_options()("report-json", text_value("FILE", "", "none"), "write setup and points as JSON")(
      "plot", text_value("FILE", "", "none"), "draw the points to FILE.svg or FILE.png (needs gnuplot)");
  for (const char* file : {"report-json", "plot"}) line.leave_out_of_setup(file);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  auto points = simulation_points(*values);
  const auto& plot = (*values)["plot"].as<std::string>();
  if (!plot.empty()) check_plot_file(plot);
  check_files(*values, points);
  if (!plot.empty()) choose_pictures(points);
  const auto simulator = Simulator::beside_this();
  check_platforms(simulator, points);
  BenchReport report("simulate", columns(), setup_json(line.effective_config(*values)));
  SimulationPlots plots;
  for (const auto& point : points) {
    SimulationCost cost;
    const auto result = simulator.run(point, &cost);
    report.add(point_json(point, result));
    plots.add(point, result);
    spdlog::info("{} nodes, {}: simulated in {:.1f} s and {}", point.nodes, name_of(point, result), cost.seconds,
                 in_mebibytes(cost.peak_bytes));
  }
  const auto& file = (*values)["report-json"].as<std::string>();
  if (!file.empty()) report.write_json(file);
  if (!plot.empty()) write_plot(plot, plots.plots());
  return kExitOk;
}

}  // namespace eventloom
