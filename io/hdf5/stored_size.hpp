#pragma once

#include <string>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Throws UserError when the file cannot hold all rows that a dataset declares: unwritten rows read as zeros, so a few
/// bytes can declare 2^60 of them. `name` names file and dataset. Accepts only storage that Eventloom uses: in this
/// file, with no filters but deflate, shuffle and Fletcher-32.
void expect_stored(hid_t dataset, const std::string& name);

}  // namespace eventloom
