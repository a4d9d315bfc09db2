#include "io/registry/unread_columns.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

std::vector<std::vector<std::string>> unread_columns(std::span<const SourceSpec> specs) {
  std::vector<std::vector<std::string>> all(specs.size());
  for (const auto& scheme : source_schemes()) {
    if (scheme.unread == nullptr) continue;
    std::vector<std::size_t> places;
    std::vector<SourceUri> uris;
    for (std::size_t s = 0; s < specs.size(); ++s) {
      if (specs[s].uri.scheme() != scheme.name || !specs[s].defect.empty()) continue;
      places.push_back(s);
      uris.push_back(specs[s].uri);
    }
    auto found = scheme.unread(uris);
    for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = std::move(found[i]);
  }
  return all;
}

}  // namespace eventloom
