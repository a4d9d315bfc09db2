#pragma once

#include <filesystem>
#include <ostream>

#include "app/view/compare/compare_runs.hpp"

namespace eventloom {

/// A run that was compared, with what the texts need of it.
struct NamedRun {
  std::filesystem::path path;
  RunTables tables;
};

/// What was counted, then the first differences with the hits of the events: those in one run only are marked by A or
/// B. Reads the events that differ once more.
void print_comparison(std::ostream& out, const NamedRun& a, const NamedRun& b, const Comparison& comparison);

}  // namespace eventloom
