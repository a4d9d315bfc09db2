#include "io/recorded/fixed_channel.hpp"

#include "io/recorded/payload_columns.hpp"

namespace eventloom {

std::optional<std::uint32_t> fixed_channel(const SourceUri& uri) {
  if (!uri.has("fixed-channel")) return std::nullopt;
  for (const char* key : {"channel", "channels"}) {
    if (uri.has(key)) uri.refuse("fixed-channel= is the channel of all hits: omit it, or " + std::string(key) + "=");
  }
  return static_cast<std::uint32_t>(uri.get_count("fixed-channel", 0, 0, kMaxChannel));
}

}  // namespace eventloom
