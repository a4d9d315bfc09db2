#include "app/monitor/http_server.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <future>
#include <list>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

constexpr std::uint32_t kMostHeaderBytes = 8192;
constexpr std::uint64_t kMostBodyBytes = 4096;
constexpr std::size_t kMostConnections = 200;
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kToSendTheRest = std::chrono::seconds(1);
constexpr auto kBetweenFailures = std::chrono::milliseconds(100);
/// The data of the run come first where cores are shared.
constexpr int kNiceness = 10;

/// Nothing may be loaded from anywhere else, nor may another page embed this one.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

using Response = http::response<http::string_body>;

Response response_of(const HttpReply& reply, unsigned version, bool keep_alive) {
  Response response(static_cast<http::status>(reply.status), version);
  response.set(http::field::content_type, reply.content_type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy", kContentPolicy);
  if (!reply.allow.empty()) response.set(http::field::allow, reply.allow);
  if (!reply.authenticate.empty()) response.set(http::field::www_authenticate, reply.authenticate);
  response.keep_alive(keep_alive);
  response.body() = reply.body;
  response.prepare_payload();
  return response;
}

HttpReply plain(unsigned status, const char* what) {
  return {status, "application/json", std::string("{\"error\":\"") + what + "\"}\n", "", ""};
}

/// What is answered to a request that could not be read; nothing where nobody is left to read it.
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

HttpRequest request_of(const http::request<http::string_body>& message, const Tcp::socket& socket) {
  const auto text = [&](auto field) { return std::string(message[field]); };
  beast::error_code ignored;
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.path = std::string(message.target().substr(0, message.target().find('?')));
  request.host = text(http::field::host);
  request.origin = text(http::field::origin);
  request.fetch_site = text("Sec-Fetch-Site");
  request.content_type = text(http::field::content_type);
  request.authorization = text(http::field::authorization);
  request.body = message.body();
  request.peer = socket.remote_endpoint(ignored).address().to_string();
  request.local = socket.local_endpoint(ignored).address().to_string();
  return request;
}

class Connection;
/// Those that wait longest for a request come first.
using Connections = std::list<std::weak_ptr<Connection>>;

/// One client; lives as long as something is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, const HttpServer::Handler& handler, Connections& all)
      : stream_(std::move(socket)), handler_(handler), all_(all) {}
  ~Connection() {
    if (place_) all_.erase(*place_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    if (!place_) place_ = all_.insert(all_.end(), weak_from_this());
    all_.splice(all_.end(), all_, *place_);
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostBodyBytes);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) { self->have(error); });
  }
  void close() { stream_.close(); }
  /// A reply that is under way is the last; else the client has nothing to wait for.
  void finish() {
    if (!sends_) return close();
    response_.keep_alive(false);
  }

 private:
  void have(const beast::error_code& error) {
    if (!error) return answer();
    if (const auto reply = reply_to(error)) send(response_of(*reply, 11, false));
  }
  void answer() {
    const auto& message = parser_->get();
    const auto reply = handler_(request_of(message, stream_.socket()));
    auto response = response_of(reply, message.version(), message.keep_alive());
    // Says how long the body would be, and has none.
    if (message.method() == http::verb::head) response.body().clear();
    send(std::move(response));
  }
  void send(Response response) {
    response_ = std::move(response);
    sends_ = true;
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) { self->sent(error); });
  }
  void sent(const beast::error_code& error) {
    sends_ = false;
    if (error) return;
    if (response_.keep_alive()) return read();
    beast::error_code ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes + kMostBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
  bool sends_ = false;
  const HttpServer::Handler& handler_;
  Connections& all_;
  std::optional<Connections::iterator> place_;
};

Tcp::acceptor listen(asio::io_context& context, const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  Tcp::acceptor acceptor(context);
  const Tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw UserError("--monitor: cannot listen on " + address + ":" + std::to_string(port) + ": " + error.message());
  }
  return acceptor;
}

/// Signals are for the main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

class HttpServer::Work {
 public:
  Work(const std::string& address, std::uint16_t port, Handler handler)
      : handler_(std::move(handler)),
        acceptor_(listen(context_, address, port)),
        endpoint_(acceptor_.local_endpoint()),
        timer_(context_) {
    accept();
    const SignalsBlocked blocked;
    thread_ = std::thread([this] {
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
      context_.run();
      ended_.set_value();
    });
  }
  ~Work() {
    asio::post(context_, [this] { finish(); });
    if (ended_.get_future().wait_for(kToSendTheRest) != std::future_status::ready) context_.stop();
    thread_.join();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] const Tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      if (connections_.size() >= kMostConnections) {
        if (const auto idle = connections_.front().lock()) idle->close();
      }
      std::make_shared<Connection>(std::move(socket), handler_, connections_)->read();
      accept();
    });
  }
  /// The process has no file descriptor left, say.
  void accept_later() {
    timer_.expires_after(kBetweenFailures);
    timer_.async_wait([this](beast::error_code error) {
      if (!error) accept();
    });
  }
  /// Then nothing is left to do for the thread.
  void finish() {
    acceptor_.close();
    timer_.cancel();
    const auto all = connections_;
    for (const auto& connection : all) {
      if (const auto open = connection.lock()) open->finish();
    }
  }

  Handler handler_;
  Connections connections_;  // outlives the context, whose connections leave it
  asio::io_context context_{1};
  Tcp::acceptor acceptor_;
  Tcp::endpoint endpoint_;
  asio::steady_timer timer_;
  std::promise<void> ended_;
  std::thread thread_;
};

HttpServer::HttpServer(const std::string& address, std::uint16_t port, Handler handler)
    : work_(std::make_shared<Work>(address, port, std::move(handler))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::address() const { return work_->endpoint().address().to_string(); }

std::string HttpServer::url() const {
  const auto& endpoint = work_->endpoint();
  const auto name = endpoint.address().is_v6() ? "[" + address() + "]" : address();
  return "http://" + name + ":" + std::to_string(endpoint.port()) + "/";
}

}  // namespace eventloom
