#include "app/tools/bench/bench_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/command/file_options.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/command/report_file.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_output/run_folder.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Plans the part files of a benchmark, which writes no run file.
void plan_parts(FilePlan& plan, const po::variables_map& values) {
  const std::filesystem::path output(values["output"].as<std::string>());
  if (output.empty()) return;
  plan.write(output, "--output", is_nobodys, FilePlan::Existing::keep, false);
  const auto existing = existing_option(values);
  plan.write(output.parent_path() / part_name(output, 9999, 9999), "--output", is_part_file, existing);
  plan.write_in(
      output.parent_path(), "--output", [=](const std::string& name) { return is_name_of_run(output, name); },
      is_of_run, existing);
}

/// Detects unwritable files before hours of measuring.
void check_files(const po::variables_map& values, const std::string& report, const std::string& plot) {
  FilePlan plan;
  if (values.count("output") != 0) plan_parts(plan, values);
  plan_config(plan, values);
  if (values.count("schedule") != 0) {
    for (const auto& name : words_of(values["schedule"].as<std::string>())) plan_schedule(plan, name);
  }
  plan_report(plan, report, "--report-json");
  if (!plot.empty()) plan_plot(plan, plot);
  plan.check();
}

}  // namespace

void BenchRun::add_options(po::options_description& options, int repeat) {
  add_option_rows(
      options, {{"repeat", po::value<int>()->value_name("N")->default_value(repeat),
                 "measurements of each point; medians are shown"},
                {"report-json", text_value("FILE", "", "none"), "write setup and points as JSON"},
                {"plot", text_value("FILE", "", "none"), "draw the points to FILE.svg or FILE.png (needs gnuplot)"}});
}

BenchRun::BenchRun(std::string bench, const po::variables_map& values, const std::string& effective_config,
                   std::vector<BenchColumn> columns, const Communicator& communicator)
    : communicator_(communicator),
      repeat_(in_range("repeat", values["repeat"].as<int>(), 1, 1000)),
      report_json_(values["report-json"].as<std::string>()),
      plot_(values["plot"].as<std::string>()),
      report_(std::move(bench), std::move(columns), bench_setup(communicator, exchange_backend(), effective_config)) {
  agree(communicator, [&] {
    if (!first()) return;
    if (!plot_.empty()) check_plot_file(plot_);
    check_files(values, report_json_, plot_);
  });
  if (first()) print_setup(std::cout, report_.setup());
}

void BenchRun::add(nlohmann::json point) {
  if (first()) report_.add(std::move(point));
}

void BenchRun::note(std::string line) {
  if (first()) report_.note(std::move(line));
}

int BenchRun::finish(const std::vector<Plot>& plots, int code) {
  agree(communicator_, [&] {
    if (!first()) return;
    if (!report_json_.empty()) report_.write_json(report_json_);
    if (!plot_.empty()) write_plot(plot_, plots);
  });
  return code;
}

int run_bench(CommandLine& line, int argc, const char* const* argv,
              const std::function<int(const po::variables_map&, const Communicator&)>& work) {
  return run_inside_mpi<po::variables_map>(
      "bench", [&] { return line.parse(argc, argv); },
      [&](const po::variables_map& values) { return line.effective_config(values); }, work);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace eventloom
