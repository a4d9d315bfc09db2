#pragma once

#include <boost/program_options/variables_map.hpp>
#include <string>

#include "app/command/file_plan.hpp"

/// Option values and files shared by several commands.
namespace eventloom {

/// Returns the meaning of `--force`.
FilePlan::Existing existing_option(const boost::program_options::variables_map& values);
/// Adds the file of `--config`.
void plan_config(FilePlan& plan, const boost::program_options::variables_map& values);
/// Adds the file of a schedule that is read from a file.
void plan_schedule(FilePlan& plan, const std::string& schedule);

}  // namespace eventloom
