#pragma once

#include <string>
#include <vector>

#include "app/tools/bench/bench_run.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/subprocess.hpp"

namespace eventloom {

/// How a benchmark shows its points.
struct BenchView {
  std::string bench;  ///< its name
  std::vector<BenchColumn> columns;
  std::vector<Plot> (*plots)(const Json& points) = nullptr;
};

/// Adds --transports and --ranks.
void add_transport_options(boost::program_options::options_description& options);

/// Runs a benchmark once over each of --transports, by mpirun with that many ranks on this host, and shows all points
/// in one table; each point has a "transport". `effective_config`: the options of the benchmark. `environment`: the
/// variables that this process had before MPI began. Returns the greatest exit code. Throws UserError if there are
/// several ranks already, or if a benchmark fails.
int bench_over_transports(BenchView view, const boost::program_options::variables_map& values,
                          const std::string& effective_config, const Communicator& communicator,
                          const Environment& environment);

}  // namespace eventloom
