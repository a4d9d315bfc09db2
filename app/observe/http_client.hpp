#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/error.hpp"

namespace eventloom {

/// Parsed from "http://HOST:PORT/"; the scheme and the slash are optional. Parsing throws UserError.
struct MonitorUrl {
  std::string host;
  std::string port;
};
MonitorUrl parse_monitor_url(const std::string& text);

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

/// The server did not answer in time.
class NoAnswerInTime : public UserError {
 public:
  using UserError::UserError;
};

/// Sends one request over a new connection and waits at most 10 s. The request identifies its user. `body` empty: GET,
/// otherwise POST of JSON. `token` may be empty. Throws UserError if there is no server, NoAnswerInTime on timeout.
HttpAnswer ask(const MonitorUrl& url, const std::string& path, const std::string& body = {},
               const std::string& token = {});

}  // namespace eventloom
