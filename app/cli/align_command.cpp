#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/document/plot.hpp"
#include "app/run/run_detector.hpp"
#include "app/tools/align/align_report.hpp"
#include "app/tools/align/aligned_map.hpp"
#include "app/tools/align/alignment.hpp"
#include "core/detector/resolve_detector.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/units.hpp"
#include "io/files/partial_file.hpp"
#include "io/registry/clock_eras.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

void add_align_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"source", list_value("URI"), "recordings to align, repeatable; see 'eventloom run --help'"},
       {"detector", text_value("MAP.csv", "", "none"),
        "map whose offsets, masks, cuts and groups are applied first; the new map includes its rows"},
       {"group", list_value("NAME=..."), "name a group of channels, as in 'run'; repeatable"},
       {"output,o", text_value("NEW.csv"), "the new map, for 'run --detector'"},
       {"by", text_value("WHAT", "channel"),
        "what has an offset of its own: source, channel (of each source) or group"},
       {"reference", text_value("NAME", "", "the first with coincidences"),
        "SOURCE, SOURCE/CHANNEL or GROUP whose offset is fixed; sources by number or name"},
       {"window", text_value("TIME", "200ns"),
        "width of the picture on each side of 0; offsets are searched at least this far"},
       {"search", text_value("TIME", "2us"), "offsets between two units are searched up to this time"},
       {"plot", text_value("FILE", "", "none"), "draw the time differences before and after to FILE.svg or FILE.png"},
       {"tick", text_value("TIME"), "unit of time for imported data (default 1ns)"},
       {"epoch", text_value("TIME"), "length of an epoch for imported data (default 10us; 500ns with --tick 1ps)"},
       {"force", po::bool_switch(), "replace a map that 'align' wrote"}});
}

/// The files of the command; nothing that is read may be replaced.
void check_files(const po::variables_map& values, const std::vector<SourceSpec>& specs) {
  FilePlan plan;
  plan_config(plan, values);
  for (const auto& spec : specs) {
    for (const auto& file : files_of(spec)) plan.read(file, "the source");
  }
  const auto& map = values["detector"].as<std::string>();
  if (!map.empty()) plan.read(map, "--detector");
  plan.write(values["output"].as<std::string>(), "--output", is_aligned_map, existing_option(values));
  const auto& plot = values["plot"].as<std::string>();
  if (!plot.empty()) {
    check_plot_file(plot);
    plan_plot(plan, plot);
  }
  plan.check();
}

std::int64_t ticks_option(const po::variables_map& values, const char* option, std::uint64_t tick_ps) {
  const auto ticks = parsed(option, [&] { return parse_duration(values[option].as<std::string>(), tick_ps); });
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  return static_cast<std::int64_t>(in_range(option, static_cast<std::uint64_t>(ticks), std::uint64_t{1}, kMost));
}

Detector detector_of(const DetectorMap& map, const po::variables_map& values, const HitPasses& passes) {
  std::vector<GroupOption> groups;
  if (values.count("group") != 0) {
    for (const auto& text : values["group"].as<std::vector<std::string>>()) groups.push_back(parse_group_option(text));
  }
  return resolve_detector(map, groups, {passes.names(), passes.tick_ps(), false});
}

AlignSettings settings_of(const po::variables_map& values, std::uint64_t tick_ps) {
  const auto by = parsed("by", [&] { return parse_align_by(values["by"].as<std::string>()); });
  return {by, values["reference"].as<std::string>(), ticks_option(values, "window", tick_ps),
          ticks_option(values, "search", tick_ps)};
}

}  // namespace

int align_command(int argc, const char* const* argv) {
  CommandLine line("align",
                   "align URI... --output NEW.csv [options]\nFinds time offsets of channels, sources or groups from "
                   "the time differences of coincident hits, by least\nsquares over all pairs, and writes a map of the "
                   "detector that corrects them.\nExit code 3 when the offset of any cannot be found, or data are "
                   "damaged.");
  add_align_options(line.options());
  line.positional("source", -1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("source") == 0) throw UserError("no source given; see 'eventloom align --help'");
  if (values->count("output") == 0) throw UserError("no output given; use --output NEW.csv");
  auto specs = expand_and_compare((*values)["source"].as<std::vector<std::string>>());
  place_eras_of_clocks(specs, time_base_options(*values));
  check_files(*values, specs);
  DetectorMap map;
  if (const auto& file = (*values)["detector"].as<std::string>(); !file.empty()) map = read_detector_map(file);
  HitPasses passes(specs, time_base_options(*values));
  const auto detector = detector_of(map, *values, passes);
  const auto alignment = align(passes, detector, settings_of(*values, passes.tick_ps()));
  const auto& output = (*values)["output"].as<std::string>();
  write_text_file(output, aligned_map(map, detector, passes.names(), alignment, passes.tick_ps()), is_aligned_map);
  if (const auto& plot = (*values)["plot"].as<std::string>(); !plot.empty())
    write_plot(plot, alignment_plots(alignment, passes.tick_ps()));
  std::cout << alignment_text(alignment, passes.tick_ps()) << "map: " << output << '\n';
  const auto gaps = alignment_gaps(alignment);
  for (const auto& gap : gaps) log::warn("{}", gap);
  return gaps.empty() && !alignment.damaged ? kExitOk : kExitLosses;
}

}  // namespace eventloom
