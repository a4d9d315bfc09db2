#pragma once

#include <cstdint>
#include <string>

#include "formats/stream_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Returns kOptional if the URI has the key `optional` (or optional=yes, optional=true), 0 if it lacks the key or has
/// optional=no. Throws UserError for any other value, and when times are not event numbers.
inline std::uint32_t optional_flag(const SourceUri& uri, bool numbered) {
  const auto value = uri.get("optional", "no");
  if (value == "no" || value == "false") return 0;
  if (!value.empty() && value != "yes" && value != "true") {
    uri.refuse("optional=" + value + " is not known; use optional or optional=no");
  }
  if (!numbered) uri.refuse("optional is valid only where times are event numbers");
  return kOptional;
}

}  // namespace eventloom
