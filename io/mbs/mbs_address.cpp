#include "io/mbs/mbs_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr const char* kTransportPort = "6000";
constexpr const char* kStreamPort = "6002";

bool is_server_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

struct Place {
  std::string_view host;
  std::optional<std::string_view> port;
};

/// Splits HOST, HOST:PORT or [HOST]:PORT; std::nullopt for other forms.
std::optional<Place> split_place(std::string_view place) {
  const bool bracketed = place.starts_with('[');
  const auto end = bracketed ? place.find(']') : std::min(place.find(':'), place.size());
  if (end == place.npos) return std::nullopt;
  const auto host = bracketed ? place.substr(1, end - 1) : place.substr(0, end);
  const auto rest = place.substr(bracketed ? end + 1 : end);
  if (host.empty()) return std::nullopt;
  if (rest.empty()) return Place{host, std::nullopt};
  if (!rest.starts_with(':') || !is_server_port(rest.substr(1))) return std::nullopt;
  return Place{host, rest.substr(1)};
}

}  // namespace

MbsAddress MbsAddress::of(const SourceUri& uri) {
  const std::string_view path = uri.path();
  const auto slash = path.find('/', std::min<std::size_t>(2, path.size()));
  const auto service = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  const bool known = path.starts_with("//") && (service == "transport" || service == "stream");
  const auto place = known ? split_place(path.substr(2, slash - 2)) : std::nullopt;
  if (!place) {
    uri.refuse(
        "expected mbs://HOST/transport or mbs://HOST/stream, with HOST:PORT where the port is not "
        "6000 or 6002, and addresses of IPv6 in brackets");
  }
  MbsAddress address;
  address.service = service == "stream" ? MbsService::stream : MbsService::transport;
  address.host = place->host;
  address.port = place->port.value_or(address.service == MbsService::stream ? kStreamPort : kTransportPort);
  address.text = "mbs:" + uri.path();
  return address;
}

}  // namespace eventloom
