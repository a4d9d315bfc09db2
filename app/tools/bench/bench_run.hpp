#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command/command_line.hpp"
#include "app/document/plot.hpp"
#include "app/tools/bench/bench_report.hpp"
#include "app/tools/bench/machine_load.hpp"
#include "app/tools/bench/measured_times.hpp"
#include "app/tools/bench/raw_times.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Name of the benchmark that measures runs which it starts itself: --realtime applies to those.
inline constexpr const char* kBenchOfRuns = "reply";

/// Whether --transports is given: the benchmark measures ranks that it starts itself, and --realtime applies to those.
bool over_transports(const boost::program_options::variables_map& values);
/// The default of --ranks, the number of ranks that --transports starts.
inline constexpr const char* kRanksOfTransports = "2";

/// The options that all benchmarks share, and the report.
class BenchRun {
 public:
  /// Adds --repeat, --report-json, --plot and --realtime.
  static void add_options(boost::program_options::options_description& options, int repeat);
  /// Adds --limit and --raw, for benchmarks that time each message.
  static void add_time_options(boost::program_options::options_description& options);

  /// Collective. Takes the steps of --realtime. Prints the setup on rank 0. The measurement begins, see MachineLoad.
  /// Throws UserError if the plot file is impossible, a file cannot be written, or the system refuses all steps of
  /// --realtime.
  BenchRun(const std::string& bench, const boost::program_options::variables_map& values,
           const std::string& effective_config, std::vector<BenchColumn> columns, const Communicator& communicator);

  [[nodiscard]] const Communicator& communicator() const { return communicator_; }
  [[nodiscard]] bool first() const { return communicator_.rank() == 0; }
  [[nodiscard]] int repeat() const { return repeat_; }
  /// The parts of measured times to keep, the same on all ranks.
  [[nodiscard]] TimesKept times_kept() const { return kept_; }

  /// The points so far, on rank 0.
  [[nodiscard]] const Json& points() const { return report_.points(); }

  /// Rank 0 adds the point or note; the other ranks do nothing.
  void add(Json point);
  void note(std::string line);
  /// Rank 0 writes the times of the next point to the file of --raw, if there is one. `repetition`: from 0.
  void write_raw(std::size_t repetition, std::string_view what, const MeasuredTimes& times);
  /// Rank 0 adds the report of another benchmark, measured by ranks that this one has started: their setup, which is
  /// printed the first time, the notes, as those of `name`, the points, with this "transport", and the rows of `raw`,
  /// the file of their --raw, if there is one here.
  void adopt(const Json& report, const std::string& transport, const std::string& raw);
  /// Collective. Adds the load of the hosts, and a warning where it spoils the figures; writes the requested files and
  /// returns `code`.
  int finish(const std::vector<Plot>& plots, int code);

 private:
  const Communicator& communicator_;
  int repeat_;
  std::string report_json_;
  std::string plot_;
  TimesKept kept_;
  BenchReport report_;
  std::optional<RawTimes> raw_;  ///< on rank 0
  MachineLoad load_;
};

/// Parses the options of a benchmark and runs it inside MPI. Only one rank reports a usage error.
int run_bench(CommandLine& line, int argc, const char* const* argv,
              const std::function<int(const boost::program_options::variables_map&, const Communicator&)>& work);

double median(std::vector<double> values);
/// Relative spread of repetitions: (largest - smallest) / median; null for fewer than two.
Json spread_of(const std::vector<double>& values);

}  // namespace eventloom
