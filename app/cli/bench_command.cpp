#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/mpi_command.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

struct Bench {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kBenches = {
    Bench{"patterns", "data rate of one-to-all, all-to-one, all-to-all and others, beside the ceiling", bench_patterns},
    Bench{"latency", "one way and round trip, small messages, source to built event", bench_latency},
    Bench{"rate", "samples at a set rate: missed steps and latency", bench_rate},
    Bench{"scan", "ring depth, cell size, many clients to one server, where the time goes", bench_scan},
    Bench{"sources", "hits in time at a set rate: latency received, built, written; late ones dropped", bench_sources},
    Bench{"clocks", "error of synchronised clocks immediately and later, with and without drift correction",
          bench_clocks},
    Bench{"reply", "time from a board's hit to the run's reply, compared with a plain UDP echo", bench_reply},
};

void print_usage(std::ostream& out) {
  out << "usage: mpirun -np N eventloom bench <what> [options]\n\n";
  for (const auto& bench : kBenches) {
    out << "  " << bench.name << std::string(12 - bench.name.size(), ' ') << bench.summary << '\n';
  }
  out << "\n'eventloom bench <what> --help' shows the options with units and defaults.\n";
}

}  // namespace

int bench_command(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    print_usage(std::cout);
    return kExitOk;
  }
  for (const auto& bench : kBenches) {
    if (bench.name == name) return bench.run(argc - 1, argv + 1);
  }
  std::string known;
  std::vector<std::string_view> names;
  for (const auto& bench : kBenches) {
    known += (known.empty() ? "" : ", ") + std::string(bench.name);
    names.push_back(bench.name);
  }
  return refuse("bench", (name.empty() ? "no benchmark given"
                                       : "unknown benchmark '" + std::string(name) + "'" + did_you_mean(name, names)) +
                             "; known are: " + known);
}

}  // namespace eventloom
