#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The URIs of the files of a split run, in the order of `paths`. Only the first of such files has a header. Unless
/// `uri` has the key `header`, it is set to that header for files that lack one and begin with plausible records.
/// Throws UserError when such a file is among others whose headers differ.
std::vector<SourceUri> compass_segments(const SourceUri& uri, std::span<const std::string> paths);

}  // namespace eventloom
