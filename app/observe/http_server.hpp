#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/observe/http_message.hpp"

namespace eventloom {

/// A single-threaded HTTP/1.1 server for a few readers on an untrusted network. A request has at most 8 KiB of header
/// and 4 KiB of body and must be complete within 10 s; a reply must be taken within 10 s. Beyond 200 connections, the
/// one that has been idle longest is closed. The thread uses at most 5 % of a core; clients that ask for more wait.
class HttpServer {
 public:
  /// Listens, and calls `handler` on the server's thread. `port` 0: a free port. Throws UserError if the
  /// address cannot be used.
  HttpServer(const std::string& address, std::uint16_t port, HttpHandler handler);
  /// Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Example: "http://127.0.0.1:8080/".
  [[nodiscard]] std::string url() const;
  /// The address without the port.
  [[nodiscard]] std::string address() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace eventloom
