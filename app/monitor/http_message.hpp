#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace eventloom {

/// A request as far as it matters here; absent fields are empty.
struct HttpRequest {
  std::string method;
  std::string path;  ///< without a query
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string content_type;
  std::string authorization;
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
};

inline std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

}  // namespace eventloom
