#pragma once

#include <string>

#include "app/command/file_plan.hpp"

/// JSON reports. The first member names the kind; a report replaces only Eventloom's own reports.
namespace eventloom {

inline constexpr const char* kRunReport = "eventloom-report";
inline constexpr const char* kBenchReport = "eventloom-bench";
inline constexpr const char* kRecordReport = "eventloom-record-report";

/// Adds the file of an option, unless the option is empty.
void plan_report(FilePlan& plan, const std::string& path, const std::string& role);
/// Accepts also "/dev/stdout" and similar. Throws UserError.
void write_report(const std::string& path, const std::string& text);

}  // namespace eventloom
