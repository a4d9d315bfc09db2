#include "app/tools/bench/bench_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/command/file_options.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/command/realtime.hpp"
#include "app/command/report_file.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_output/run_folder.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kLongestLimitNs = 1'000'000'000'000;

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

/// Collective. Returns what is in force on each rank; null without --realtime.
Json take_realtime(const std::string& bench, const po::variables_map& values, const Collective& ranks) {
  if (!values["realtime"].as<bool>() || bench == kBenchOfRuns || over_transports(values)) return nullptr;
  // ZeroMQ's I/O thread would inherit the binding.
  const bool zmq = values.count("peer") != 0 && values["peer"].as<std::string>().find("zmq") != std::string::npos;
  return to_json(apply_realtime(ranks, zmq ? 2 : 1));
}

/// Collective. Takes the steps of --realtime first, because the setup states the binding.
Json setup_of(const std::string& bench, const po::variables_map& values, const std::string& effective_config,
              const Communicator& communicator) {
  auto realtime = take_realtime(bench, values, communicator);
  auto setup = bench_setup(communicator, exchange_backend(), effective_config);
  setup["realtime"] = std::move(realtime);
  return setup;
}

void check_ranks(const po::variables_map& values) {
  if (values.count("transports") == 0 || over_transports(values)) return;
  if (values["ranks"].as<std::string>() != kRanksOfTransports) {
    throw UserError("--ranks is for --transports, which starts its own ranks: use 'mpirun -np N' instead");
  }
}

std::string raw_file(const po::variables_map& values) {
  return values.count("raw") == 0 ? std::string() : values["raw"].as<std::string>();
}

TimesKept kept_times(const po::variables_map& values) {
  TimesKept kept;
  if (values.count("raw") == 0) return kept;  // `bench sources` has its own limits
  if (const auto& limit = values["limit"].as<std::string>(); !limit.empty()) {
    kept.limit_ns = nanoseconds_of("limit", limit, 0, kLongestLimitNs);
  }
  kept.each = !raw_file(values).empty();
  return kept;
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
  if (const auto raw = raw_file(values); !raw.empty()) RawTimes::plan(plan, raw);
  if (!plot.empty()) plan_plot(plan, plot);
  plan.check();
}

}  // namespace

bool over_transports(const po::variables_map& values) {
  return values.count("transports") != 0 && !values["transports"].as<std::string>().empty();
}

void BenchRun::add_options(po::options_description& options, int repeat) {
  add_option_rows(
      options, {{"repeat", po::value<int>()->value_name("N")->default_value(repeat),
                 "measurements of each point; medians are shown"},
                {"report-json", text_value("FILE", "", "none"), "write setup and points as JSON"},
                {"plot", text_value("FILE", "", "none"), "draw the points to FILE.svg or FILE.png (needs gnuplot)"}});
  add_realtime_option(options);
}

void BenchRun::add_time_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"limit", text_value("TIME", "", "none"), "count the times above it, e.g. 10us: exact shares"},
       {"raw", text_value("FILE", "", "none"), "write each time as a row of a CSV file, to check figures with"}});
}

BenchRun::BenchRun(const std::string& bench, const po::variables_map& values, const std::string& effective_config,
                   std::vector<BenchColumn> columns, const Communicator& communicator)
    : communicator_(communicator),
      repeat_(agreed(communicator, [&] { return in_range("repeat", values["repeat"].as<int>(), 1, 1000); })),
      report_json_(values["report-json"].as<std::string>()),
      plot_(values["plot"].as<std::string>()),
      kept_(agreed(communicator, [&] { return kept_times(values); })),
      report_(bench, std::move(columns), setup_of(bench, values, effective_config, communicator)) {
  agree(communicator, [&] {
    check_ranks(values);
    if (!first()) return;
    if (!plot_.empty()) check_plot_file(plot_);
    check_files(values, report_json_, plot_);
    if (kept_.each) raw_.emplace(raw_file(values));
  });
  if (first() && !over_transports(values)) print_setup(std::cout, report_.setup());
}

void BenchRun::add(Json point) {
  if (first()) report_.add(std::move(point));
}

void BenchRun::note(std::string line) {
  if (first()) report_.note(std::move(line));
}

void BenchRun::write_raw(std::size_t repetition, std::string_view what, const MeasuredTimes& times) {
  if (raw_) raw_->write(report_.points().size(), repetition, what, times.each());
}

void BenchRun::adopt(const Json& report, const std::string& transport, const std::string& raw) {
  if (!first()) return;
  if (report_.points().empty()) {
    report_.set_ranks(report.at("setup"));
    print_setup(std::cout, report_.setup());
  }
  if (raw_) raw_->adopt(report_.points().size(), raw);
  for (auto point : report.at("points")) {
    point["transport"] = transport;
    report_.add(std::move(point));
  }
  for (const auto& note : report.at("notes")) {
    const auto text = note.get<std::string>();
    if (!text.starts_with(kLoadWarning)) report_.note("over " + transport + ": " + text);
  }
}

int BenchRun::finish(const std::vector<Plot>& plots, int code) {
  const auto load = load_.report(communicator_);
  agree(communicator_, [&] {
    if (!first()) return;
    const auto warning = load_warning(load);
    if (!warning.empty()) log::warn("{}", warning);
    report_.set_load(load, warning);
    if (raw_) raw_->finish();
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

Json spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const auto [least, greatest] = std::ranges::minmax(values);
  return (greatest - least) / median(values);
}

}  // namespace eventloom
