#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// A column of the table of points.
struct BenchColumn {
  std::string key;    ///< key in a point; a JSON pointer if it begins with a slash, as in "/latency/p50_ns"
  std::string title;  ///< printable ASCII only: a text's width is counted in bytes
  std::string unit;   ///< may be empty; "%": the values are fractions and are printed times 100
  int precision = 0;  ///< digits after the decimal point
};

/// The points of a benchmark. Prints them as a table on standard output, row by row as they are measured, and writes
/// them to a JSON file. Exists only on rank 0.
class BenchReport {
 public:
  /// `setup`: the result of bench_setup(), extended by the benchmark.
  BenchReport(std::string bench, std::vector<BenchColumn> columns, Json setup);

  /// Adds a point, a JSON object, and prints its row at once: numbers right-aligned, text left-aligned, "-" for a
  /// value that is missing, null or not finite. Prints the header before the first row, and again whenever a value
  /// does not fit its column.
  void add(Json point);

  /// Prints a line below the current rows and keeps it for the file, unless it was noted before.
  void note(std::string line);

  /// Adds a MachineLoad::report(), and its warning, if any, to the notes of the file.
  void set_load(Json load, const std::string& warning);

  /// Replaces what the setup says of the ranks: for a benchmark that measures ranks which it starts itself.
  void set_ranks(const Json& setup);

  [[nodiscard]] const Json& setup() const { return setup_; }
  [[nodiscard]] const Json& points() const { return points_; }

  /// Writes {"bench", "setup", "load", "points", "notes"}. Throws UserError if the file cannot be written.
  void write_json(const std::string& path) const;

 private:
  struct Cell {
    std::string text;
    enum class Kind { kMissing, kNumber, kText } kind;
  };
  struct Shape {
    std::size_t width = 0;
    bool left = false;  ///< the column holds text
  };

  static Cell cell_of(const Json& point, const BenchColumn& column);
  bool make_room(const std::vector<Cell>& cells);
  void print_header() const;
  void print_row(const std::vector<Cell>& cells) const;

  std::string bench_;
  std::vector<BenchColumn> columns_;
  std::vector<Shape> shapes_;  ///< one per column
  Json setup_;
  Json load_;
  Json points_ = Json::array();
  std::vector<std::string> notes_;
};

/// Collective. Returns the conditions on which the numbers of a benchmark depend; unknown values are null.
///
/// {"eventloom", "mpi", "ucx": versions, "started": UTC, "hosts": by rank, "binding": by rank, {"cpus": as in "0-1,4",
/// "one_core": whether they are the hardware threads of a single core}, "exchange": {"pml", "osc", "ucx_transports",
/// "is_ucx", "others"}, "configuration": effective_config}, and for the caller's host {"processor": model name,
/// "cores": online hardware threads, "l2_bytes": second-level cache of a core}.
Json bench_setup(const Communicator& communicator, const ExchangeBackend& backend, const std::string& effective_config);

/// Prints a few lines that summarise a bench_setup(), and "realtime" if the setup has it.
void print_setup(std::ostream& out, const Json& setup);

}  // namespace eventloom
