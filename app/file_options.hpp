#pragma once

#include <boost/program_options/variables_map.hpp>
#include <string>

#include "app/file_plan.hpp"

/// What the options that all commands share say of files.
namespace eventloom {

/// What `--force` says.
FilePlan::Existing existing_option(const boost::program_options::variables_map& values);
/// Adds the file that `--config` names.
void plan_config(FilePlan& plan, const boost::program_options::variables_map& values);
/// Adds the file of a schedule that is read from one.
void plan_schedule(FilePlan& plan, const std::string& schedule);

}  // namespace eventloom
