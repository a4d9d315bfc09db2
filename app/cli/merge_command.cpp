#include <filesystem>
#include <iostream>
#include <string>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/view/merge/merge_by_python.hpp"
#include "app/view/merge/merge_to_files.hpp"
#include "app/view/merge/source_files.hpp"
#include "core/runtime/error.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/merge.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

CommandLine merge_command_line() {
  CommandLine line("merge",
                   "merge RUN_FILE [options]\n"
                   "Merges the part files of a run into one plain HDF5 file, events in the order of time;\n"
                   "with --to, writes its events as list-mode data, or to a ROOT or Parquet file, instead.\n"
                   "Exit code 3 when the run had not ended (--partial).");
  add_option_rows(
      line.options(),
      {{"run", text_value("RUN_FILE"),
        "run.h5 of the run; its parts are in the same folder. With --to also a merged file"},
       {"output,o", text_value("FILE"), "merged file (default: RUN_FILE with .merged.h5)"},
       {"to", text_value("FORMAT:PATH"),
        "lmd:PATH or hld:PATH[?size=BYTES&begin=T,T&end=T,T]: the events as DABC would write them, in files of at most "
        "that size, which begin or end with events of these trigger types; root:PATH[?kind=rntuple&names] or "
        "parquet:PATH[?names]: a file for analysis, with a TTree by default and, with names, those of the detector "
        "map; "
        "needs Python with uproot or pyarrow"},
       {"compress", text_value("LEVEL"), "deflate level 1 to 9, with shuffle; 0 = off (default: as the run)"},
       {"nexus", po::bool_switch(),
        "add a NeXus entry: /entry/events, NXevent_data with an event of the run as a pulse and its hits as events; "
        "event_id = source x 2^28 + channel"},
       {"partial", po::bool_switch(),
        "merge the finished parts of a stopped run; the output states what is missing, and has closed = 0"},
       {"force", po::bool_switch(), "replace an existing output"}});
  line.positional("run", 1);
  return line;
}

[[noreturn]] void refuse_merged(const std::filesystem::path& file) {
  const auto stem = file.stem().string();
  const auto parts = files_in(folder_of(file), [&](const std::string& name) { return is_part_of(stem, name); });
  throw UserError("'" + file.string() + "' is one plain file already, written by 'run --merge' or 'merge'; " +
                  (parts.empty() ? "--to writes its events in another format"
                                 : "its parts were left beside it by an interruption: the command of the run with "
                                   "--resume removes them"));
}

int merge_to(const po::variables_map& values) {
  const auto refuse = [](const char* option) {
    throw UserError(std::string("--to writes no HDF5 file; omit --") + option);
  };
  for (const char* option : {"output", "compress"}) {
    if (values.count(option) != 0) refuse(option);
  }
  if (values["nexus"].as<bool>()) refuse("nexus");
  FilePlan plan;
  plan_config(plan, values);
  const MergeToFiles what{values["run"].as<std::string>(), values["to"].as<std::string>(),
                          values["partial"].as<bool>()};
  const auto merge = is_written_by_python(what.target) ? merge_by_python : merge_to_files;
  return merge(what, plan, existing_option(values));
}

}  // namespace

int merge_command(int argc, const char* const* argv) {
  auto line = merge_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("run") == 0) throw UserError("no run file given; see 'eventloom merge --help'");
  if (values->count("to") != 0) return merge_to(*values);

  const std::filesystem::path run = (*values)["run"].as<std::string>();
  if (is_merged_file(run)) refuse_merged(run);
  const std::filesystem::path output = values->count("output") != 0
                                           ? std::filesystem::path((*values)["output"].as<std::string>())
                                           : run.parent_path() / (run.stem().string() + ".merged.h5");
  MergeSettings settings;
  if (values->count("compress") != 0)
    settings.compress = static_cast<unsigned>(count_option(*values, "compress", 0, 9));
  settings.partial = (*values)["partial"].as<bool>();
  settings.nexus = (*values)["nexus"].as<bool>();
  FilePlan plan;
  plan_config(plan, *values);
  for (const auto& file : files_of_run(run)) plan.read(file, "the run");
  plan_source_files(plan, read_run_record(run), run.parent_path(), {output});
  plan.write(output, "--output", is_merged_file, existing_option(*values));
  plan.check();

  const auto merged = merge_run(run, output, settings);
  std::cout << "events  " << merged.events << "\nhits    " << merged.hits << "\nbytes   " << merged.bytes
            << "\nfile    " << output.string() << '\n';
  if (merged.missing.empty()) return kExitOk;
  std::cout << "missing " << merged.missing << '\n';
  return kExitLosses;
}

}  // namespace eventloom
