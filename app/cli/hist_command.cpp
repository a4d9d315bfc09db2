#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/document/histogram_json.hpp"
#include "app/document/plot.hpp"
#include "app/view/hist/histogram_plot.hpp"
#include "app/view/hist/histogram_text.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_input/run_histograms.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

CommandLine hist_command_line() {
  CommandLine line("hist",
                   "hist RUN_FILE [NAME] [options]\n"
                   "Shows the histograms that 'run --hist' filled: all of them in a few lines, or one with its bins.\n"
                   "Reads run.h5 or a merged file; the parts are not needed.");
  add_option_rows(line.options(),
                  {{"run", text_value("RUN_FILE"), "run.h5 or a merged file"},
                   {"name", text_value("NAME", "", "all"), "the histogram to show"},
                   {"csv", po::bool_switch(), "print the bins as a table; needs NAME if there are several"},
                   {"json", po::bool_switch(), "print everything as JSON"},
                   {"png", text_value("FILE", "", "none"),
                    "draw them to FILE, .png or .svg; replaces only a plot of Eventloom (needs gnuplot)"},
                   {"log", po::bool_switch(), "counts on a logarithmic scale, with --png"}});
  line.positional("run", 1);
  line.positional("name", 1);
  return line;
}

void keep_only(const std::string& name, const std::filesystem::path& file, std::vector<HistogramRecord>& histograms) {
  std::vector<std::string_view> names;
  std::string all;
  for (const auto& histogram : histograms) {
    names.push_back(histogram.name);
    all += (all.empty() ? "" : ", ") + histogram.name;
  }
  const auto found = std::ranges::find(histograms, name, &HistogramRecord::name);
  if (found == histograms.end()) {
    throw UserError("'" + file.string() + "' has no histogram '" + name + "'" + did_you_mean(name, names) +
                    "; it has: " + all);
  }
  histograms = {*found};
}

void draw(const po::variables_map& values, const std::filesystem::path& run_file,
          const std::vector<HistogramRecord>& histograms, const ChannelNames& names) {
  const auto& png = values["png"].as<std::string>();
  FilePlan plan;
  plan_config(plan, values);
  plan.read(run_file, "the run");
  plan.write(png, "--png", is_plot, FilePlan::Existing::replace);
  plan.check();
  check_plot_file(png);
  std::vector<Plot> plots;
  for (const auto& histogram : histograms) plots.push_back(plot_of(histogram, values["log"].as<bool>(), names));
  write_plot(png, plots);
}

void print(const po::variables_map& values, const std::vector<HistogramRecord>& histograms, const ChannelNames& names) {
  if (values["csv"].as<bool>()) return print_histogram_csv(std::cout, histograms.front());
  if (values["json"].as<bool>()) {
    std::cout << histograms_json(histograms).dump(1) << '\n';
    return;
  }
  if (values["name"].as<std::string>().empty()) return print_histogram_list(std::cout, histograms);
  print_histogram(std::cout, histograms.front(), names);
}

}  // namespace

int hist_command(int argc, const char* const* argv) {
  auto line = hist_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("run") == 0) throw UserError("no run file given; see 'eventloom hist --help'");
  const std::filesystem::path run_file = (*values)["run"].as<std::string>();
  const bool csv = (*values)["csv"].as<bool>();
  if (csv && (*values)["json"].as<bool>()) throw UserError("--csv and --json: choose one of them");
  auto histograms = histograms_of(run_file);
  if (histograms.empty())
    throw UserError("'" + run_file.string() + "' has no histograms: 'eventloom run' fills those of --hist");
  if (const auto& name = (*values)["name"].as<std::string>(); !name.empty()) keep_only(name, run_file, histograms);
  if (csv && histograms.size() > 1) throw UserError("--csv prints one histogram: give its NAME");
  const auto names = common_channel_names(KnownChannels(read_run_record(run_file).detector));
  if (!(*values)["png"].as<std::string>().empty()) draw(*values, run_file, histograms, names);
  print(*values, histograms, names);
  return kExitOk;
}

}  // namespace eventloom
