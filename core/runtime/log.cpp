#include "core/runtime/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>

namespace eventloom {

namespace {

std::shared_ptr<spdlog::sinks::dist_sink_mt> log_sinks;
TextCleaner clean_text = nullptr;
std::string log_place;
bool log_times = false;

/// The text of a message, in patterns.
class CleanText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const auto text = clean_text({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<CleanText>();
  }
};
constexpr char kCleanText = '*';

/// See no-color.org.
spdlog::color_mode colours() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0' ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

/// On a terminal, a message may overwrite a longer progress bar.
void set_pattern() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<CleanText>(kCleanText);
  const std::string time = log_times ? " %Y-%m-%dT%H:%M:%SZ" : "";
  formatter->set_pattern("%^%n" + time + log_place + ": %l:%$ %*" + (isatty(STDERR_FILENO) != 0 ? "\033[K" : ""));
  spdlog::default_logger()->set_formatter(std::move(formatter));
}

spdlog::level::level_enum spdlog_level(log::Level level) {
  switch (level) {
    case log::Level::detail: return spdlog::level::debug;
    case log::Level::info: return spdlog::level::info;
    case log::Level::warn: return spdlog::level::warn;
    case log::Level::error: break;
  }
  return spdlog::level::err;
}

}  // namespace

void log::write(Level level, std::string_view text) { spdlog::default_logger_raw()->log(spdlog_level(level), text); }

void log::write_formatted(Level level, fmt::string_view text, fmt::format_args arguments) {
  if (spdlog::default_logger_raw()->should_log(spdlog_level(level))) write(level, fmt::vformat(text, arguments));
}

void set_up_log(const std::string& name, TextCleaner clean) {
  clean_text = clean;
  log_sinks = std::make_shared<spdlog::sinks::dist_sink_mt>();
  log_sinks->add_sink(std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours()));
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(name, log_sinks));
  set_pattern();
}

void log_errors_only() { spdlog::set_level(spdlog::level::err); }

void log_details() { spdlog::set_level(spdlog::level::debug); }

void set_log_place(const std::string& place) {
  log_place = ", " + place;
  set_pattern();
}

void set_log_times() {
  log_times = true;
  set_pattern();
}

void add_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink) { log_sinks->add_sink(sink); }

void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink) { log_sinks->remove_sink(sink); }

}  // namespace eventloom
