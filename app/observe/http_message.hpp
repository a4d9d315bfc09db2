#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace eventloom {

/// The field of a request in which a client may say who asks.
inline constexpr const char* kUserField = "X-Eventloom-User";

/// A request as far as it matters here; absent fields are empty.
struct HttpRequest {
  std::string method;
  std::string path;  ///< without a query
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string content_type;
  std::string authorization;
  std::string user;   ///< who asks, in their own words: kUserField
  std::string agent;  ///< the program that asks, as it says
  std::string body;
  std::string peer;   ///< address of the client
  std::string local;  ///< address that it has reached
};

struct HttpReply {
  unsigned status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body;  ///< one for all who are sent the same
  std::string allow;                        ///< with 405: the methods
  std::string authenticate;                 ///< with 401: the scheme
  std::string refused = {};                 ///< why, of a refusal
};

inline std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

}  // namespace eventloom
