#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/view/compare/comparison_json.hpp"
#include "app/view/compare/comparison_text.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kMostDifferences = 10'000;

CommandLine compare_command_line() {
  CommandLine line("compare",
                   "compare A.h5 B.h5 [options]\n"
                   "Which events of two runs differ: the time of its first hit identifies an event, and the source\n"
                   "of this hit where events may begin together (cluster, --per-source). Compares hits, payload,\n"
                   "duration, flags and missing sources, not what depends on how a run was done, and says where\n"
                   "the ledgers differ. Reads run.h5 with its parts, merged files, or the finished parts of a run\n"
                   "that was stopped, in constant memory.\n"
                   "Exit code 0 when all events are the same, 3 when some differ, 2 when a file is damaged.");
  add_option_rows(line.options(), {{"run", po::value<std::vector<std::string>>()->value_name("FILE"),
                                    "run.h5, whose parts are in the same folder, or a merged file; two of them"},
                                   {"differences", text_value("N", "10"),
                                    "show the first N events that differ in full, with at most 10000 hits each"},
                                   {"json", po::bool_switch(), "print one JSON object instead"}});
  line.positional("run", -1);
  return line;
}

}  // namespace

int compare_command(int argc, const char* const* argv) {
  auto line = compare_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  const auto files =
      values->count("run") == 0 ? std::vector<std::string>() : (*values)["run"].as<std::vector<std::string>>();
  if (files.size() != 2) {
    throw UserError("compare takes two files, not " + std::to_string(files.size()) +
                    "; see 'eventloom compare --help'");
  }
  const auto most = count_option(*values, "differences", 0, kMostDifferences);
  const NamedRun a{files[0], open_run_tables(files[0])};
  const NamedRun b{files[1], open_run_tables(files[1])};
  const auto comparison = compare_runs(a.tables, b.tables, most);
  if ((*values)["json"].as<bool>()) {
    std::cout << comparison_json(a, b, comparison).dump(2) << '\n';
  } else {
    print_comparison(std::cout, a, b, comparison);
  }
  return comparison.differs() ? kExitLosses : kExitOk;
}

}  // namespace eventloom
