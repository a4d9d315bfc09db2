#pragma once

#include <string>

#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/handle.hpp"

/// The totals of a run as attributes of its file.
namespace eventloom {

/// Whether an attribute is one of them.
bool is_total(const std::string& attribute);
void write_totals(hid_t root, const RunTotals& totals);
/// Throws UserError when one is missing that every version has written; others are 0 then.
void read_totals(hid_t root, RunTotals& totals);

}  // namespace eventloom
