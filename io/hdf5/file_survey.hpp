#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/json.hpp"

namespace eventloom {

/// Contents of a group of an HDF5 file and of the groups below it.
struct FileSurvey {
  std::uint64_t groups = 0;    ///< the one at which the survey begins does not count
  std::uint64_t datasets = 0;  ///< the first of them are described
  /// Each has path, type, shape, perhaps unit, and first_rows where they can be shown, null where one has no value.
  Json described = Json::array();
  std::vector<std::string> problems;  ///< objects that do not open, or rows that cannot be read
};

/// Describes the first `most` datasets in and below the group `top`. Follows links; a group that is reached twice
/// counts once. Throws UserError when the file does not open, or when the survey would crash HDF5.
FileSurvey survey_of(const std::string& file, const std::string& top, std::size_t most);

}  // namespace eventloom
