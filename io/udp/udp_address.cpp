#include "io/udp/udp_address.hpp"

#include <netdb.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

struct Parts {
  std::string host;
  std::string port;
};

[[noreturn]] void not_an_address(const std::string& place) {
  throw UserError("'" + place.substr(place.starts_with("//") ? 2 : 0) +
                  "' is not a UDP address; give HOST:PORT or [IPV6]:PORT, with a port from 0 to 65535");
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size();
}

Parts parts_of(const std::string& place) {
  std::string_view rest = place;
  if (rest.starts_with("udp:")) rest.remove_prefix(4);
  if (rest.starts_with("//")) rest.remove_prefix(2);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || !is_port(rest.substr(colon + 1))) not_an_address(place);
  auto host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.empty()) not_an_address(place);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    not_an_address(place);
  }
  return {std::string(host.empty() ? "127.0.0.1" : host), std::string(rest.substr(colon + 1))};
}

}  // namespace

UdpAddress resolve_udp(const std::string& place) {
  const auto parts = parts_of(place);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &found); error != 0) {
    throw UserError("'" + place + "': host '" + parts.host + "' is unknown (" + ::gai_strerror(error) +
                    "); give a name or an address that this machine can resolve");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  UdpAddress address;
  std::memcpy(&address.address, found->ai_addr, found->ai_addrlen);
  address.length = found->ai_addrlen;
  const bool v6 = parts.host.find(':') != std::string::npos;
  address.text = (v6 ? "[" + parts.host + "]" : parts.host) + ":" + parts.port;
  return address;
}

}  // namespace eventloom
