#include "core/runtime/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

namespace eventloom {

void set_up_log(const std::string& name) {
  auto logger = std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%^%n: %l:%$ %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace eventloom
