#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace eventloom {

/// What a group of an HDF5 file and the groups below it hold.
struct FileSurvey {
  std::uint64_t groups = 0;    ///< without the one at which the survey begins
  std::uint64_t datasets = 0;  ///< the first of them are described
  /// Of each: path, type, shape, perhaps unit, and first_rows where they can be shown.
  nlohmann::ordered_json described = nlohmann::ordered_json::array();
  std::vector<std::string> problems;  ///< what does not open or cannot be read
};

/// Describes the first `most` datasets in and below the group `top`. Follows links; a group that is reached twice
/// counts once. Throws UserError when the file does not open, or when the survey would crash HDF5.
FileSurvey survey_of(const std::string& file, const std::string& top, std::size_t most);

}  // namespace eventloom
