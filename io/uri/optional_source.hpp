#pragma once

#include <cstdint>

#include "formats/stream_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// kOptional where the URI has the key `optional`, 0 otherwise. Throws UserError when times are not event numbers: then
/// events need no source.
inline std::uint32_t optional_flag(const SourceUri& uri, bool numbered) {
  if (!uri.has("optional")) return 0;
  if (!numbered) uri.refuse("optional is valid only where times are event numbers");
  return kOptional;
}

}  // namespace eventloom
