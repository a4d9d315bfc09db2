#include "app/command/file_options.hpp"

#include "schedulers/table.hpp"

namespace eventloom {

namespace po = boost::program_options;

FilePlan::Existing existing_option(const po::variables_map& values) {
  return values["force"].as<bool>() ? FilePlan::Existing::replace : FilePlan::Existing::keep;
}

void plan_config(FilePlan& plan, const po::variables_map& values) {
  if (values.count("config") != 0) plan.read(values["config"].as<std::string>(), "--config");
}

void plan_schedule(FilePlan& plan, const std::string& schedule) {
  if (const auto table = schedule_file(schedule)) plan.read(*table, "--schedule");
}

}  // namespace eventloom
