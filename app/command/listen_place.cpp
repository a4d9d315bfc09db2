#include "app/command/listen_place.hpp"

#include <charconv>

namespace eventloom {

std::optional<ListenPlace> parse_listen_place(std::string_view text) {
  ListenPlace place;
  const auto colon = text.rfind(':');
  const auto port = colon == text.npos ? text : text.substr(colon + 1);
  if (colon != text.npos) {
    auto address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    if (address.find_first_of("[]") != address.npos) return std::nullopt;
    place.address = address;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc{} || end != port.data() + port.size() || place.address.empty()) return std::nullopt;
  return place;
}

}  // namespace eventloom
