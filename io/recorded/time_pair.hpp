#pragma once

#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Rewrites `time=STEPS-FINE`, steps of `coarse-unit` less a fine time, as `coarse=STEPS` and `time=-FINE`. Returns a
/// URI without `coarse-unit`, or with `coarse`, unchanged: names of columns may contain a minus.
SourceUri with_time_pair(const SourceUri& uri);

/// Whether the key `time` begins with a minus: its column is subtracted from the steps.
bool subtracts_time(const SourceUri& uri);

/// Returns the name or number of the column of the key `time`, without the minus. Throws UserError if there is a minus
/// but no `coarse`.
std::string time_column(const SourceUri& uri);

}  // namespace eventloom
