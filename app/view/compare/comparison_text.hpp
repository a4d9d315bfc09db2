#pragma once

#include <filesystem>
#include <ostream>

#include "app/view/compare/compare_runs.hpp"

namespace eventloom {

/// A compared run and what the output needs of it.
struct NamedRun {
  std::filesystem::path path;
  RunTables tables;
};

/// Prints the counts, then the first differences with the hits of the events; hits in only one run are marked A or B.
/// Rereads the events that differ.
void print_comparison(std::ostream& out, const NamedRun& a, const NamedRun& b, const Comparison& comparison);

}  // namespace eventloom
