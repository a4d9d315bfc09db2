#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eventloom {

/// The address at which a server listens.
struct ListenPlace {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free port
};

/// Parses "8080", "0.0.0.0:8080" or "[::1]:8080"; std::nullopt for other forms.
std::optional<ListenPlace> parse_listen_place(std::string_view text);

}  // namespace eventloom
