#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/format.hpp"

namespace spdlog::sinks {
class sink;
}  // namespace spdlog::sinks

/// Messages of the program, to spdlog's default logger. Call from any thread. spdlog itself compiles slowly, so only
/// this folder, and those that collect messages, include it.
namespace eventloom::log {

/// `detail`: only shown after log_details().
enum class Level { detail, info, warn, error };

/// Writes a message as it stands.
void write(Level level, std::string_view text);
/// Formats and writes a message unless its level is switched off.
void write_formatted(Level level, fmt::string_view text, fmt::format_args arguments);

template <class First, class... Rest>
void write(Level level, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  write_formatted(level, text, fmt::make_format_args(first, rest...));
}

/// A text alone is written as it stands; with arguments it is a format.
inline void info(std::string_view text) { write(Level::info, text); }
inline void warn(std::string_view text) { write(Level::warn, text); }
inline void error(std::string_view text) { write(Level::error, text); }
template <class First, class... Rest>
void detail(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  write(Level::detail, text, std::forward<First>(first), std::forward<Rest>(rest)...);
}
template <class First, class... Rest>
void info(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  write(Level::info, text, std::forward<First>(first), std::forward<Rest>(rest)...);
}
template <class First, class... Rest>
void warn(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  write(Level::warn, text, std::forward<First>(first), std::forward<Rest>(rest)...);
}
template <class First, class... Rest>
void error(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  write(Level::error, text, std::forward<First>(first), std::forward<Rest>(rest)...);
}

}  // namespace eventloom::log

namespace eventloom {

/// Removes terminal control sequences from a text: messages contain names chosen by others.
using TextCleaner = std::string (*)(std::string_view);

/// Sends spdlog's default logger to standard error, one line per message, prefixed with `name`. Uses colour on a
/// terminal, unless NO_COLOR is set. Results go to standard output instead.
void set_up_log(const std::string& name, TextCleaner clean);

/// Leaves out later messages below errors.
void log_errors_only();

/// Also shows later messages of detail.
void log_details();

/// Makes later messages state their origin: "eventloom, rank 1 (source 1): warning: ...".
void set_log_place(const std::string& place);

/// Makes later messages state the time: "eventloom 2026-11-22T18:31:48Z: warning: ...".
void set_log_times();

/// Also sends all messages to `sink`, until it is removed. Call from any thread, after set_up_log().
void add_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);
void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);

}  // namespace eventloom
