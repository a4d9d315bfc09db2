#pragma once

#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <string_view>

namespace eventloom {

/// Takes from a text what could steer a terminal: messages hold names that others have given.
using TextCleaner = std::string (*)(std::string_view);

/// Sends spdlog's default logger to standard error, one line per message, prefixed with `name`. In colour on a
/// terminal, unless NO_COLOR is set. Results never use it: they go to standard output.
void set_up_log(const std::string& name, TextCleaner clean);

/// From here on messages say where they come from: "eventloom, rank 1 (source 1): warning: ...".
void set_log_place(const std::string& place);

/// `sink` gets all messages, too, until it is removed. Any thread, after set_up_log().
void add_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);
void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);

}  // namespace eventloom
