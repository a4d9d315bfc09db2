#include "io/compass/inspect_compass.hpp"

#include "core/runtime/json.hpp"
#include "io/compass/compass_reader.hpp"
#include "io/recorded/inspect_hits.hpp"

namespace eventloom {

Json inspect_compass(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto reader = open_compass(uri, {0}, {.tick_ps = tick_ps.value_or(1)});
  return inspect_hits(*reader, "compass",
                      {{"tick_ps", reader->header().base.tick_ps}, {"contents", reader->header().text}}, n_events);
}

}  // namespace eventloom
