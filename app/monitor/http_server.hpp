#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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

std::shared_ptr<const std::string> shared_text(std::string text);

/// An HTTP/1.1 server of one thread, for a few readers on a network that is not trusted: a request has at most 8 KiB of
/// header and 4 KiB of body and must be complete within 10 s, a reply be taken within 10 s; of more than 200
/// connections that idles longest is closed. The thread uses 5 % of a core at most: who asks for more waits.
class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  /// Listens, and calls `handler` on its thread. Throws UserError when the address cannot be used. `port` 0: a free
  /// one.
  HttpServer(const std::string& address, std::uint16_t port, Handler handler);
  /// Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:8080/".
  [[nodiscard]] std::string url() const;
  /// The address without the port.
  [[nodiscard]] std::string address() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace eventloom
