#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <list>
#include <memory>
#include <optional>

#include "app/observe/http_message.hpp"

namespace eventloom {

class HttpConnection;
/// The connection that has waited longest for a request comes first.
using HttpConnections = std::list<std::weak_ptr<HttpConnection>>;

/// One client of the server. Held by shared_ptr: it lives as long as an operation is pending. Single-threaded.
/// `handler` and `all` must outlive it.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::ip::tcp::socket socket, const HttpHandler& handler, HttpConnections& all)
      : stream_(std::move(socket)), handler_(handler), all_(all) {}
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Waits for the first or the next request.
  void read();
  void close() { stream_.close(); }
  /// Completes a reply in progress as the last one; otherwise closes the connection.
  void finish();

 private:
  using Error = boost::beast::error_code;

  void have_header(const Error& error);
  void read_body();
  void have_request(const Error& error);
  /// Replies to a request that could not be read.
  void refuse(const Error& error);
  void send(HttpReply reply, unsigned version, bool keep_alive, bool with_body);
  void sent(const Error& error);
  void discard();

  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  HttpReply reply_;  ///< owns the body of response_
  boost::beast::http::response<boost::beast::http::span_body<const char>> response_;
  bool sends_ = false;
  bool last_ = false;
  const HttpHandler& handler_;
  HttpConnections& all_;
  std::optional<HttpConnections::iterator> place_;
};

}  // namespace eventloom
