#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/error.hpp"

namespace eventloom {

/// Of "http://HOST:PORT/", with or without the scheme and the slash. Throws UserError.
struct MonitorUrl {
  std::string host;
  std::string port;
};
MonitorUrl parse_monitor_url(const std::string& text);

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

/// A UserError: there is somebody who does not answer in time.
class NoAnswerInTime : public UserError {
 public:
  using UserError::UserError;
};

/// One request of a connection of its own, which says whose it is, 10 s at most. `body` empty: GET, else POST of JSON.
/// `token` may be empty. Throws UserError when nobody answers, NoAnswerInTime when it takes too long.
HttpAnswer ask(const MonitorUrl& url, const std::string& path, const std::string& body = {},
               const std::string& token = {});

}  // namespace eventloom
