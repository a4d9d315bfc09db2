#include "app/observe/http_connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Message = http::request<http::string_body>;

constexpr std::uint32_t kMostHeaderBytes = 8192;
constexpr std::uint64_t kMostBodyBytes = 4096;
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kToReadReply = std::chrono::seconds(1);
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr unsigned kHttp11 = 11;

HttpReply plain(unsigned status, const char* what) {
  return {status, "application/json", shared_text(std::string("{\"error\":\"") + what + "\"}\n"), "", ""};
}

/// Returns the reply to a request that could not be read; std::nullopt if no client is left to read it.
std::optional<HttpReply> reply_to(const beast::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return plain(431, "the header is larger than 8 KiB");
  }
  if (error == http::error::body_limit) return plain(413, "the body is larger than 4 KiB");
  const bool parsing = error.category() == http::make_error_code(http::error::bad_method).category();
  const bool ended = error == http::error::end_of_stream || error == http::error::partial_message;
  if (parsing && !ended) return plain(400, "this is not HTTP");
  return std::nullopt;
}

/// Returns the address as the client knows it: an IPv4 address if an IPv4 client has reached an IPv6 socket.
std::string text_of(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

/// Parses "/status?x" or the form used by proxies, "http://HOST/status", which overrides the field Host (RFC
/// 9112, section 3.2.2).
void take_target(std::string_view target, HttpRequest& request) {
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    const auto slash = std::min(target.find('/'), target.size());
    request.host = target.substr(0, slash);
    target.remove_prefix(slash);
    if (target.empty()) target = "/";
  }
  request.path = target.substr(0, target.find('?'));
}

HttpRequest request_of(const Message& message, const Tcp::socket& socket) {
  const auto text = [&](auto field) { return std::string(message[field]); };
  beast::error_code ignored;
  HttpRequest request;
  request.method = std::string(message.method_string());
  // Two Host fields are as invalid as none.
  if (message.count(http::field::host) == 1) request.host = text(http::field::host);
  take_target({message.target().data(), message.target().size()}, request);
  request.origin = text(http::field::origin);
  request.fetch_site = text("Sec-Fetch-Site");
  request.content_type = text(http::field::content_type);
  request.authorization = text(http::field::authorization);
  request.user = text(kUserField);
  request.agent = text(http::field::user_agent);
  request.body = message.body();
  request.peer = text_of(socket.remote_endpoint(ignored).address());
  request.local = text_of(socket.local_endpoint(ignored).address());
  return request;
}

/// An error here, for example out of memory, must not become an error of the run.
HttpReply answered(const HttpHandler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    log::warn("monitor: {} cannot be answered: {}", request.path, error.what());
    return plain(500, "the monitor has failed to answer");
  }
}

}  // namespace

HttpConnection::~HttpConnection() {
  if (place_) all_.erase(*place_);
}

void HttpConnection::read() {
  if (!place_) place_ = all_.insert(all_.end(), weak_from_this());
  all_.splice(all_.end(), all_, *place_);
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(kMostBodyBytes);
  buffer_.max_size(kMostHeaderBytes + kMostBodyBytes);
  stream_.expires_after(kPatience);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](const Error& error, std::size_t) { self->have_header(error); });
}

void HttpConnection::finish() {
  if (!sends_) return close();
  last_ = true;
}

/// Supports clients that wait for "100 Continue" before they send the body.
void HttpConnection::have_header(const Error& error) {
  if (error) return refuse(error);
  const auto& message = parser_->get();
  const bool waits = message.version() >= kHttp11 && !parser_->is_done() && buffer_.size() == 0 &&
                     beast::iequals(message[http::field::expect], "100-continue");
  if (!waits) return read_body();
  asio::async_write(stream_, asio::buffer(kContinue), [self = shared_from_this()](const Error& failed, std::size_t) {
    if (!failed) self->read_body();
  });
}

void HttpConnection::read_body() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](const Error& error, std::size_t) { self->have_request(error); });
}

void HttpConnection::have_request(const Error& error) {
  if (error) return refuse(error);
  const auto& message = parser_->get();
  send(answered(handler_, request_of(message, stream_.socket())), message.version(), message.keep_alive(),
       message.method() != http::verb::head);
}

void HttpConnection::refuse(const Error& error) {
  if (auto reply = reply_to(error)) send(std::move(*reply), kHttp11, false, true);
}

void HttpConnection::send(HttpReply reply, unsigned version, bool keep_alive, bool with_body) {
  reply_ = std::move(reply);
  response_ = {static_cast<http::status>(reply_.status), version};
  response_.set(http::field::content_type, reply_.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  // A policy in the page itself cannot forbid that others embed it.
  response_.set("Content-Security-Policy", reply_.policy + "; frame-ancestors 'none'");
  if (!reply_.allow.empty()) response_.set(http::field::allow, reply_.allow);
  if (!reply_.authenticate.empty()) response_.set(http::field::www_authenticate, reply_.authenticate);
  response_.keep_alive(keep_alive);
  // Set also in reply to HEAD, which has no body.
  response_.content_length(reply_.body->size());
  if (with_body) response_.body() = {reply_.body->data(), reply_.body->size()};
  sends_ = true;
  stream_.expires_after(kPatience);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](const Error& error, std::size_t) { self->sent(error); });
}

void HttpConnection::sent(const Error& error) {
  sends_ = false;
  if (error) return;
  if (response_.keep_alive() && !last_) return read();
  Error ignored;
  stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kToReadReply);
  discard();
}

/// Reads and discards until the client, too, has closed: closing with unread data would lose the reply.
void HttpConnection::discard() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kMostHeaderBytes),
                          [self = shared_from_this()](const Error& error, std::size_t) {
                            if (!error) self->discard();
                          });
}

}  // namespace eventloom
