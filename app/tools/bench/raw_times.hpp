#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "app/command/file_plan.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

/// A CSV file with each time that a benchmark has measured, to check its figures with: a comment line, the header
/// "point,repetition,what,ns", and a row per time, in the order of measurement. Exists only on rank 0. All errors throw
/// UserError.
class RawTimes {
 public:
  /// Adds the file to a plan; it may replace an earlier one of this kind.
  static void plan(FilePlan& plan, const std::filesystem::path& file);

  explicit RawTimes(const std::filesystem::path& file);

  /// `point`, `repetition`: numbers from 0. `what`: a name of the point's times in the report.
  void write(std::size_t point, std::size_t repetition, std::string_view what, std::span<const std::int64_t> ns);
  /// Adds the rows of another such file; its points follow the first `points` of this one.
  void adopt(std::size_t points, const std::string& file);
  /// Gives the file its name.
  void finish();

 private:
  PartialFile file_;
};

}  // namespace eventloom
