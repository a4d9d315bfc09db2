#pragma once

#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <string_view>

namespace eventloom {

/// Removes terminal control sequences from a text: messages contain names chosen by others.
using TextCleaner = std::string (*)(std::string_view);

/// Sends spdlog's default logger to standard error, one line per message, prefixed with `name`. Uses colour on a
/// terminal, unless NO_COLOR is set. Results go to standard output instead.
void set_up_log(const std::string& name, TextCleaner clean);

/// Makes later messages state their origin: "eventloom, rank 1 (source 1): warning: ...".
void set_log_place(const std::string& place);

/// Makes later messages state the time: "eventloom 2026-11-22T18:31:48Z: warning: ...".
void set_log_times();

/// Also sends all messages to `sink`, until it is removed. Call from any thread, after set_up_log().
void add_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);
void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);

}  // namespace eventloom
