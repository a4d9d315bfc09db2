#pragma once

#include <string>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Throws UserError when the rows of a dataset cannot all be in its file: those that were never written read as zeros,
/// and a few bytes can declare 2^60 of them. `name`: of both. For datasets as Eventloom stores them: in this file, with
/// no filters but deflate, shuffle and Fletcher-32.
void expect_stored(hid_t dataset, const std::string& name);

}  // namespace eventloom
