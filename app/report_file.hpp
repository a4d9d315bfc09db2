#pragma once

#include <string>

#include "app/file_plan.hpp"

/// Reports as JSON, which begin with what they are: one of the same kind gives way to the next.
namespace eventloom {

inline constexpr const char* kRunReport = "eventloom-report";
inline constexpr const char* kBenchReport = "eventloom-bench";

/// Adds what an option names, unless that is empty.
void plan_report(FilePlan& plan, const std::string& path, const std::string& role);
/// Also to "/dev/stdout" and the like. Throws UserError.
void write_report(const std::string& path, const std::string& text);

}  // namespace eventloom
