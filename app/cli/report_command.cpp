#include <algorithm>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/observe/page/page.hpp"
#include "app/view/report/report_document.hpp"
#include "app/view/report/report_plots.hpp"
#include "app/view/report/run_list.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_input/run_histograms.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

CommandLine report_command_line() {
  CommandLine line(
      "report",
      "report RUN_FILE --output REPORT.html [options]\n"
      "report --runs DIR [--json | --output RUNS.html]\n"
      "Writes one HTML page, which needs no network, with the plots of a run: rates, multiplicity, duration,\n"
      "time between events, hits per source and channel, ledger, balance, events. Reads run.h5 with its\n"
      "parts, a merged file, or the finished parts of a run that was stopped. With --runs: the log of the runs of\n"
      "a folder, see 'eventloom run --runs'.");
  add_option_rows(line.options(),
                  {{"run", text_value("RUN_FILE"), "run.h5, whose parts are in the same folder, or a merged file"},
                   {"output,o", text_value("FILE"), "the page; replaces only a page of Eventloom"},
                   {"png", text_value("DIR", "", "none"),
                    "also draw each plot to a PNG file in DIR; replaces only pictures of Eventloom (needs gnuplot)"},
                   {"runs", text_value("DIR", "", "none"),
                    "list the runs of a folder: their numbers, who began and ended them, when and why, and totals"},
                   {"json", po::bool_switch(), "with --runs: as JSON"}});
  line.positional("run", 1);
  return line;
}

bool is_page(const std::filesystem::path& file) {
  const std::string_view begin = kPageBegin;
  return head_of(file, begin.size()) == begin;
}

void check_report_files(const po::variables_map& values, const RunTables& run, const std::filesystem::path& run_file,
                        const std::filesystem::path& output) {
  const auto& png = values["png"].as<std::string>();
  FilePlan plan;
  plan_config(plan, values);
  plan.read(run_file, "the run");
  for (const auto& part : run.parts) plan.read(run.folder / part.name, "the run");
  if (!png.empty()) plan.write_in(png, "--png", is_name_of_report_plot, is_plot, FilePlan::Existing::replace);
  plan.write(output, "--output", is_page, FilePlan::Existing::replace);
  plan.check();
  if (!png.empty()) check_plot_file("report.png");
}

/// Removes pictures of an earlier report that this one does not have.
void write_plots(const std::filesystem::path& folder, const Json& status, std::span<const HistogramRecord> histograms,
                 const ChannelNames& names) {
  const auto plots = report_plots(status, histograms, names);
  for (const auto& path : entries_in(folder)) {
    const auto name = path.filename().string();
    const bool stays = std::ranges::find(plots, name, &std::pair<std::string, Plot>::first) != plots.end();
    if (is_name_of_report_plot(name) && !stays) remove_own(path, is_plot);
  }
  for (const auto& [name, plot] : plots) write_plot((folder / name).string(), {plot});
}

bool is_run_page(const std::filesystem::path& file) {
  const std::string_view begin = kRunPageBegin;
  return head_of(file, begin.size()) == begin;
}

int report_runs(const po::variables_map& values) {
  const std::filesystem::path folder = values["runs"].as<std::string>();
  if (values.count("run") != 0 || !values["png"].as<std::string>().empty()) {
    throw UserError("--runs lists the runs of a folder: it takes neither a run file nor --png");
  }
  const bool json = values["json"].as<bool>();
  const bool writes = values.count("output") != 0;
  if (json && writes) throw UserError("--json writes to standard output; give it or --output, not both");
  const auto runs = read_run_log(folder);
  if (runs.empty()) throw UserError("'" + folder.string() + "' has no log of runs, or an empty one");
  if (json) {
    std::cout << runs_json(runs).dump(2) << '\n';
  } else if (writes) {
    const std::filesystem::path output = values["output"].as<std::string>();
    FilePlan plan;
    plan_config(plan, values);
    plan.read(run_log_of(folder), "--runs");
    plan.write(output, "--output", is_run_page, FilePlan::Existing::replace);
    plan.check();
    write_text_file(output, runs_page(folder.string(), runs), is_run_page);
    std::cout << runs.size() << " runs: " << output.string() << '\n';
  } else {
    print_runs(std::cout, runs);
  }
  return kExitOk;
}

}  // namespace

int report_command(int argc, const char* const* argv) {
  auto line = report_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (!(*values)["runs"].as<std::string>().empty()) return report_runs(*values);
  if ((*values)["json"].as<bool>()) throw UserError("--json needs --runs DIR");
  if (values->count("run") == 0) throw UserError("no run file given; see 'eventloom report --help'");
  if (values->count("output") == 0) throw UserError("no --output given; see 'eventloom report --help'");

  const std::filesystem::path run_file = (*values)["run"].as<std::string>();
  const std::filesystem::path output = (*values)["output"].as<std::string>();
  const auto run = open_run_tables(run_file);
  check_report_files(*values, run, run_file, output);

  const auto histograms =
      run.merged ? histograms_of(run_file) : sum_histograms(run.folder, run.parts, run.record.histograms);
  const auto status = report_document(run_file, run, summarise_run(run), read_statistics(run_file), histograms);
  const auto& png = (*values)["png"].as<std::string>();
  if (!png.empty()) create_folder_durably(png);
  write_text_file(output, page_with(status), is_page);
  if (!png.empty()) write_plots(png, status, histograms, common_channel_names(KnownChannels(run.record.detector)));
  std::cout << status["message"].get<std::string>() << "\nreport: " << output.string() << '\n';
  return kExitOk;
}

}  // namespace eventloom
