#include "io/recorded/numbered_times.hpp"

#include <string>

#include "formats/stream_file.hpp"

namespace eventloom {

SourceUri with_numbers(const SourceUri& uri) {
  if (!uri.get_yes("numbered")) return uri;
  for (const char* key : {"unit", "drift", "round", "coarse", "origin"}) {
    if (uri.has(key)) uri.refuse("event numbers have no unit; omit " + std::string(key) + "=");
  }
  return uri.with("unit", "tick");
}

std::uint32_t flags_of_columns(const SourceUri& uri) { return uri.get_yes("numbered") ? std::uint32_t{kNumbered} : 0U; }

}  // namespace eventloom
