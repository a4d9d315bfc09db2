#include "app/observe/http_server.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "app/observe/http_connection.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/pace.hpp"
#include "core/runtime/signals_blocked.hpp"

namespace eventloom {

namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

constexpr std::size_t kMostConnections = 200;
constexpr auto kToSendTheRest = std::chrono::seconds(1);
constexpr auto kBetweenFailures = std::chrono::milliseconds(100);
/// Gives the run's own work priority on shared cores.
constexpr int kNiceness = 10;
/// CPU limit for all clients together, as a fraction of a core, and the CPU time that may be saved up
/// for opening a page.
constexpr double kShareOfCore = 0.05;
constexpr auto kSavedUp = std::chrono::milliseconds(250);

Tcp::acceptor listen(asio::io_context& context, const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  Tcp::acceptor acceptor(context);
  const Tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    const auto why = error == asio::error::address_in_use ? "the port is in use; choose another, or 0 for a free one"
                     : error == asio::error::invalid_argument
                         ? "ADDR must be a numeric address of this host, such as 127.0.0.1 or 0.0.0.0"
                         : error.message();
    throw UserError("--monitor: cannot listen on " + address + ":" + std::to_string(port) + ": " + why);
  }
  return acceptor;
}

}  // namespace

class HttpServer::Work {
 public:
  Work(const std::string& address, std::uint16_t port, HttpHandler handler)
      : handler_(std::move(handler)),
        acceptor_(listen(context_, address, port)),
        endpoint_(acceptor_.local_endpoint()),
        timer_(context_) {
    accept();
    const SignalsBlocked blocked;
    thread_ = std::thread([this] {
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
      serve();
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
  void serve() {
    Pace pace(kShareOfCore, kSavedUp);
    while (context_.run_one() != 0) {
      const auto rest = pace.rest_after(time_of(CLOCK_MONOTONIC), time_of(CLOCK_THREAD_CPUTIME_ID));
      if (rest > Pace::Duration(0)) std::this_thread::sleep_for(rest);
    }
  }
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      if (connections_.size() >= kMostConnections) {
        if (const auto idle = connections_.front().lock()) idle->close();
      }
      std::make_shared<HttpConnection>(std::move(socket), handler_, connections_)->read();
      accept();
    });
  }
  /// Used if, for example, the process has no file descriptor left.
  void accept_later() {
    timer_.expires_after(kBetweenFailures);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }
  /// Afterwards the thread has no work left.
  void finish() {
    acceptor_.close();
    timer_.cancel();
    const auto all = connections_;
    for (const auto& connection : all) {
      if (const auto open = connection.lock()) open->finish();
    }
  }

  HttpHandler handler_;
  HttpConnections connections_;  // outlives the context, whose connections remove themselves from it
  asio::io_context context_{1};
  Tcp::acceptor acceptor_;
  Tcp::endpoint endpoint_;
  asio::steady_timer timer_;
  std::promise<void> ended_;
  std::thread thread_;
};

HttpServer::HttpServer(const std::string& address, std::uint16_t port, HttpHandler handler)
    : work_(std::make_shared<Work>(address, port, std::move(handler))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::address() const { return work_->endpoint().address().to_string(); }

std::string HttpServer::url() const {
  const auto& endpoint = work_->endpoint();
  const auto name = endpoint.address().is_v6() ? "[" + address() + "]" : address();
  return "http://" + name + ":" + std::to_string(endpoint.port()) + "/";
}

}  // namespace eventloom
