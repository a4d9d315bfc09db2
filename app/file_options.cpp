#include "app/file_options.hpp"

#include <string_view>

namespace eventloom {

namespace po = boost::program_options;

FilePlan::Existing existing_option(const po::variables_map& values) {
  return values["force"].as<bool>() ? FilePlan::Existing::replace : FilePlan::Existing::keep;
}

void plan_config(FilePlan& plan, const po::variables_map& values) {
  if (values.count("config") != 0) plan.read(values["config"].as<std::string>(), "--config");
}

void plan_schedule(FilePlan& plan, const std::string& schedule) {
  constexpr std::string_view kTable = "table:";
  if (schedule.starts_with(kTable)) plan.read(schedule.substr(kTable.size()), "--schedule");
}

}  // namespace eventloom
