#pragma once

#include <string>

#include "app/command/file_plan.hpp"

/// Reports as JSON, whose first member names their kind: a report replaces only one of the same kind.
namespace eventloom {

inline constexpr const char* kRunReport = "eventloom-report";
inline constexpr const char* kBenchReport = "eventloom-bench";

/// Adds the file of an option, unless that is empty.
void plan_report(FilePlan& plan, const std::string& path, const std::string& role);
/// Also to "/dev/stdout" and the like. Throws UserError.
void write_report(const std::string& path, const std::string& text);

}  // namespace eventloom
