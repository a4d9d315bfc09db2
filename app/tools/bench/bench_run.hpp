#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/command/command_line.hpp"
#include "app/document/plot.hpp"
#include "app/tools/bench/bench_report.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The options that all benchmarks share, and the report.
class BenchRun {
 public:
  /// Adds --repeat, --report-json and --plot.
  static void add_options(boost::program_options::options_description& options, int repeat);

  /// Collective. Throws UserError if the plot file is impossible or a file cannot be written. Prints the
  /// setup on rank 0.
  BenchRun(std::string bench, const boost::program_options::variables_map& values, const std::string& effective_config,
           std::vector<BenchColumn> columns, const Communicator& communicator);

  [[nodiscard]] const Communicator& communicator() const { return communicator_; }
  [[nodiscard]] bool first() const { return communicator_.rank() == 0; }
  [[nodiscard]] int repeat() const { return repeat_; }

  /// Rank 0 adds the point or note; the other ranks do nothing.
  void add(nlohmann::json point);
  void note(std::string line);
  /// Collective. Writes the requested files and returns `code`.
  int finish(const std::vector<Plot>& plots, int code);

 private:
  const Communicator& communicator_;
  int repeat_;
  std::string report_json_;
  std::string plot_;
  BenchReport report_;
};

/// Parses the options of a benchmark and runs it inside MPI. Only one rank reports a usage error.
int run_bench(CommandLine& line, int argc, const char* const* argv,
              const std::function<int(const boost::program_options::variables_map&, const Communicator&)>& work);

double median(std::vector<double> values);

}  // namespace eventloom
