#pragma once

#include <string>

#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/handle.hpp"

/// Stores the totals of a run as attributes of its file.
namespace eventloom {

/// True for the attributes of totals.
bool is_total(const std::string& attribute);
void write_totals(hid_t root, const RunTotals& totals);
/// Throws UserError when a total is missing that every version has written; others then read as 0.
void read_totals(hid_t root, RunTotals& totals);

}  // namespace eventloom
