#include "core/runtime/log.hpp"

#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <cstdlib>

namespace eventloom {

namespace {

std::shared_ptr<spdlog::sinks::dist_sink_mt> log_sinks;

/// See no-color.org.
spdlog::color_mode colours() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0' ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

/// On a terminal a message may replace a bar that is longer.
std::string pattern(const std::string& place) {
  return "%^%n" + place + ": %l:%$ %v" + (isatty(STDERR_FILENO) != 0 ? "\033[K" : "");
}

}  // namespace

void set_up_log(const std::string& name) {
  log_sinks = std::make_shared<spdlog::sinks::dist_sink_mt>();
  log_sinks->add_sink(std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours()));
  auto logger = std::make_shared<spdlog::logger>(name, log_sinks);
  logger->set_pattern(pattern(""));
  spdlog::set_default_logger(std::move(logger));
}

void set_log_place(const std::string& place) { spdlog::default_logger()->set_pattern(pattern(", " + place)); }

void add_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink) { log_sinks->add_sink(sink); }

void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink) { log_sinks->remove_sink(sink); }

}  // namespace eventloom
