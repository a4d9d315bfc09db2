#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace eventloom {

/// Request field in which a client may identify its user.
inline constexpr const char* kUserField = "X-Eventloom-User";

/// The parts of a request that the monitor uses; absent fields are empty.
struct HttpRequest {
  std::string method;
  std::string path;  ///< path without the query
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string content_type;
  std::string authorization;
  std::string user;   ///< the user, as stated by the client: kUserField
  std::string agent;  ///< the client program, as stated by the client
  std::string body;
  std::string peer;   ///< address of the client
  std::string local;  ///< address that the client has reached
};

struct HttpReply {
  unsigned status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body;    ///< shared by all clients that receive the same body
  std::string allow;                          ///< allowed methods, with status 405
  std::string authenticate;                   ///< scheme, with status 401
  std::string refused = {};                   ///< reason of a refusal
  std::string policy = "default-src 'none'";  ///< names what the body may load and run in a browser
};

inline std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

}  // namespace eventloom
