#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/observe/http_message.hpp"

namespace eventloom {

/// An HTTP/1.1 server of one thread, for a few readers on a network that is not trusted: a request has at most 8 KiB of
/// header and 4 KiB of body and must be complete within 10 s, a reply be taken within 10 s; of more than 200
/// connections that idles longest is closed. The thread uses 5 % of a core at most: who asks for more waits.
class HttpServer {
 public:
  /// Listens, and calls `handler` on its thread. Throws UserError when the address cannot be used. `port` 0: a free
  /// one.
  HttpServer(const std::string& address, std::uint16_t port, HttpHandler handler);
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
