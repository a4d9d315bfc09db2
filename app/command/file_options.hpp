#pragma once

#include <boost/program_options/variables_map.hpp>
#include <string>

#include "app/command/file_plan.hpp"

/// Option help texts and files shared by all commands.
namespace eventloom {

/// Help text of `--force`.
FilePlan::Existing existing_option(const boost::program_options::variables_map& values);
/// Adds the file of `--config`.
void plan_config(FilePlan& plan, const boost::program_options::variables_map& values);
/// Adds the file of a schedule that is read from one.
void plan_schedule(FilePlan& plan, const std::string& schedule);

}  // namespace eventloom
