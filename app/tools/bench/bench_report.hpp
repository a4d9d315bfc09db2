#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"

namespace eventloom {

/// A column of the table of points.
struct BenchColumn {
  std::string key;    ///< of a point; a JSON pointer when it begins with a slash, as in "/latency/p50_ns"
  std::string title;  ///< text must be printable ASCII, as columns are as wide as texts have bytes
  std::string unit;   ///< may be empty; with "%" the values are fractions, shown times 100
  int precision = 0;  ///< digits after the decimal point
};

/// The points of a benchmark: a table on standard output, row by row as the points are measured, and a JSON file. Only
/// rank 0 has one.
class BenchReport {
 public:
  /// `setup` is of bench_setup() with the additions of the benchmark.
  BenchReport(std::string bench, std::vector<BenchColumn> columns, nlohmann::json setup);

  /// A point is a JSON object. Its row is printed at once: numbers right-aligned, text left-aligned, "-" for a value
  /// that is missing, null or not finite. The header is printed before the first row, and again where a value does not
  /// fit the columns so far.
  void add(nlohmann::json point);

  /// A line below the rows so far, also kept for the file.
  void note(std::string line);

  [[nodiscard]] const nlohmann::json& setup() const { return setup_; }

  /// {"bench", "setup", "points", "notes"}. Throws UserError when the file cannot be written.
  void write_json(const std::string& path) const;

 private:
  struct Cell {
    std::string text;
    enum class Kind { kMissing, kNumber, kText } kind;
  };
  struct Shape {
    std::size_t width = 0;
    bool left = false;  ///< holds text
  };

  static Cell cell_of(const nlohmann::json& point, const BenchColumn& column);
  bool make_room(const std::vector<Cell>& cells);
  void print_header() const;
  void print_row(const std::vector<Cell>& cells) const;

  std::string bench_;
  std::vector<BenchColumn> columns_;
  std::vector<Shape> shapes_;  ///< by column
  nlohmann::json setup_;
  nlohmann::json points_ = nlohmann::json::array();
  nlohmann::json notes_ = nlohmann::json::array();
};

/// Collective: the conditions on which the numbers of a benchmark depend.
///
/// {"eventloom", "mpi", "ucx": versions, "started": UTC, "hosts": by rank, "binding": by rank,
/// {"cpus": as in "0-1,4", "one_core": whether these are one core, its hardware threads together},
/// "exchange": {"pml", "osc", "ucx_transports", "is_ucx"}, "configuration": effective_config}, and of
/// the caller's host {"processor": model name, "cores": online, hardware threads apart,
/// "l2_bytes": second-level cache of a core}; null for unknown values.
nlohmann::json bench_setup(const Communicator& communicator, const ExchangeBackend& backend,
                           const std::string& effective_config);

/// A few lines of text about a bench_setup().
void print_setup(std::ostream& out, const nlohmann::json& setup);

}  // namespace eventloom
