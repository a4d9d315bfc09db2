#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// One source of a run, ready to be opened.
struct SourceSpec {
  SourceUri uri;
  /// Number in the run of the first source that is received at the same port, itself if it is alone there: they are
  /// opened by one opener.
  std::uint32_t home = 0;
  std::uint32_t board = 0;  ///< which of those at the port
  std::string defect = {};  ///< why nothing can be read from it, though it is there; empty when it can
};

/// What the user says of the clock; importers fall back on TimeBase's defaults, .epochs files on their own.
struct TimeBaseOptions {
  std::optional<std::uint64_t> tick_ps;
  std::optional<std::uint32_t> epoch_ticks;
};

}  // namespace eventloom
