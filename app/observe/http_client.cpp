#include "app/observe/http_client.hpp"

#include <pwd.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "app/observe/http_message.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

namespace beast_http = boost::beast::http;

constexpr auto kAnswerWithin = std::chrono::seconds(10);
/// A status with 20 events of 2000 hits takes 2 MB.
constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{16} << 20;

using ClientRequest = beast_http::request<beast_http::string_body>;

/// Example: "ann@n1".
std::string own_name() {
  const auto* user = getpwuid(geteuid());
  return (user == nullptr ? std::to_string(geteuid()) : std::string(user->pw_name)) + "@" + host_name();
}

ClientRequest request_to(const MonitorUrl& url, const std::string& path, const std::string& body,
                         const std::string& token) {
  ClientRequest request(body.empty() ? beast_http::verb::get : beast_http::verb::post, path, 11);
  const bool ipv6 = url.host.find(':') != std::string::npos;
  request.set(beast_http::field::host, (ipv6 ? "[" + url.host + "]" : url.host) + ":" + url.port);
  request.set(kUserField, own_name());
  // Distinguishes several clients of one user.
  request.set(beast_http::field::user_agent, "eventloom/" + std::to_string(getpid()));
  request.keep_alive(false);
  if (body.empty()) return request;
  request.set(beast_http::field::content_type, "application/json");
  if (!token.empty()) request.set(beast_http::field::authorization, "Bearer " + token);
  request.body() = body;
  request.prepare_payload();
  return request;
}

/// One connection. Its steps run in sequence, each a single library call, and share one deadline.
class Exchange {
 public:
  Exchange(const MonitorUrl& url, ClientRequest request) : url_(url), request_(std::move(request)) {
    parser_.body_limit(kMostAnswerBytes);
    stream_.expires_after(kAnswerWithin);
  }

  HttpAnswer run() {
    boost::asio::ip::tcp::resolver resolver(context_);
    boost::system::error_code error;
    const auto places = resolver.resolve(url_.host, url_.port, error);
    check(error);
    stream_.async_connect(places, [this](auto failed, const auto&) { error_ = failed; });
    step();
    beast_http::async_write(stream_, request_, [this](auto failed, std::size_t) { error_ = failed; });
    step();
    beast_http::async_read(stream_, buffer_, parser_, [this](auto failed, std::size_t) { error_ = failed; });
    step();
    return {parser_.get().result_int(), parser_.get().body()};
  }

 private:
  void step() {
    context_.restart();
    context_.run();
    check(error_);
  }
  void check(const boost::system::error_code& error) const {
    if (!error) return;
    const auto text = "http://" + url_.host + ":" + url_.port + "/ does not answer: " + error.message();
    if (error == boost::beast::error::timeout) throw NoAnswerInTime(text);
    throw UserError(text);
  }

  const MonitorUrl& url_;
  ClientRequest request_;
  boost::asio::io_context context_{1};
  boost::beast::tcp_stream stream_{context_};
  boost::beast::flat_buffer buffer_;
  beast_http::response_parser<beast_http::string_body> parser_;
  boost::system::error_code error_;
};

}  // namespace

MonitorUrl parse_monitor_url(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  auto rest = text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
  rest = rest.substr(0, rest.find('/'));
  const auto colon = rest.rfind(':');
  MonitorUrl url{rest.substr(0, colon), colon == std::string::npos ? "" : rest.substr(colon + 1)};
  if (url.host.starts_with('[') && url.host.ends_with(']')) url.host = url.host.substr(1, url.host.size() - 2);
  if (url.host.empty() || url.port.empty() || url.port.find_first_not_of("0123456789") != std::string::npos) {
    throw UserError("'" + text + "' is not the URL of a monitor, such as http://127.0.0.1:8080/");
  }
  return url;
}

HttpAnswer ask(const MonitorUrl& url, const std::string& path, const std::string& body, const std::string& token) {
  return Exchange(url, request_to(url, path, body, token)).run();
}

}  // namespace eventloom
