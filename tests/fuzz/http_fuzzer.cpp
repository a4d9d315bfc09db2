#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/observe/http_connection.hpp"
#include "app/observe/monitor.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "fuzz_input.hpp"

/// Requests that clients send to the monitor. The first byte is the number of pieces into which the rest is cut. For
/// any input, each reply is HTTP, its JSON is valid, and only a request with the token commands the run.

namespace {

using namespace eventloom;
namespace http = boost::beast::http;

constexpr const char* kToken = "0123456789abcdef";
constexpr std::size_t kMostPieces = 16;

/// Its own server is idle: connections here are pairs of sockets.
std::unique_ptr<Monitor> new_monitor() {
  const std::string_view line(kToken);
  const fuzz::MemoryFile file(std::as_bytes(std::span(line)));
  auto monitor = std::make_unique<Monitor>(MonitorSettings{{"127.0.0.1", 0}, file.path()}, RunDescription{}, nullptr);
  RunDescription run;
  run.sources = {"a\"b\n<script>\x1b\xff"};
  run.ranks = {{"host", "source 0"}};
  monitor->describe(std::move(run));
  monitor->publish(std::make_shared<RunSnapshot>());
  return monitor;
}

std::unique_ptr<Monitor>& monitor() {
  static auto made = new_monitor();
  return made;
}

/// Everything that the server sends while it is given `request`, in pieces.
std::string converse(std::string_view request, std::size_t pieces) {
  std::array<int, 2> ends{};
  fuzz::require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "there are sockets");
  const HttpHandler handler = [](const HttpRequest& asked) {
    auto local = asked;
    local.local = "127.0.0.1";
    return monitor()->answer(local);
  };
  HttpConnections connections;
  boost::asio::io_context context(1);
  boost::asio::ip::tcp::socket socket(context);
  socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
  std::make_shared<HttpConnection>(std::move(socket), handler, connections)->read();
  std::string replies;
  std::array<char, 1 << 16> buffer{};
  const auto receive = [&] {
    do {
      context.poll();
      const auto n = read(ends[1], buffer.data(), buffer.size());
      if (n <= 0) return n == 0;
      replies.append(buffer.data(), static_cast<std::size_t>(n));
    } while (true);
  };
  const std::size_t piece = request.size() / pieces + 1;
  bool closed = receive();
  for (; !closed && !request.empty(); closed = receive()) {
    const auto part = request.substr(0, piece);
    request.remove_prefix(part.size());
    if (send(ends[1], part.data(), part.size(), MSG_NOSIGNAL) < 0) break;
  }
  close(ends[1]);
  context.poll();
  fuzz::require(connections.empty(), "a connection ends with its client");
  return replies;
}

void check_reply(const http::response<http::string_body>& reply, bool complete) {
  constexpr std::array kKnown = {100U, 200U, 202U, 400U, 401U, 403U, 404U, 405U, 409U, 413U, 415U, 429U, 431U};
  fuzz::require(std::ranges::find(kKnown, reply.result_int()) != kKnown.end(), "a status code is one of ours");
  if (!complete || reply[http::field::content_type] != "application/json" || reply.body().empty()) return;
  fuzz::require(!Json::try_parse(reply.body()).is_null(), "JSON is JSON");
}

/// The number of replies that accept a command. Those to HEAD have no body, which shows in what follows.
std::size_t accepted_in(std::string_view replies) {
  std::size_t accepted = 0;
  while (!replies.empty()) {
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    boost::beast::error_code error;
    const auto head = parser.put(boost::asio::buffer(replies), error);
    const bool begins = parser.is_header_done();
    fuzz::require(begins, "a reply is HTTP");
    replies.remove_prefix(head);
    parser.eager(true);
    if (replies.starts_with("HTTP/1.") || replies.empty()) {
      check_reply(parser.get(), false);
    } else {
      replies.remove_prefix(std::min(replies.size(), parser.put(boost::asio::buffer(replies), error)));
      fuzz::require(!error && parser.is_done(), "a reply has the length that it states");
      check_reply(parser.get(), true);
    }
    if (parser.get().result_int() == 202) ++accepted;
  }
  return accepted;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  set_up_log("fuzz", for_terminal);
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string request(data + 1, data + size);
  const auto accepted = accepted_in(converse(request, 1 + data[0] % kMostPieces));
  const auto commands = monitor()->take_commands().size();
  fuzz::require(commands == accepted, "a command is one that was accepted");
  fuzz::require(commands == 0 || request.find(kToken) != std::string::npos, "a command comes with the token");
  constexpr std::size_t kMany = 100;
  static std::size_t kept = 0;
  if ((kept += commands) <= kMany) return 0;
  monitor() = new_monitor();
  kept = 0;
  return 0;
}
