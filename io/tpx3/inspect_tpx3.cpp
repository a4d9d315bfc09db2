#include "io/tpx3/inspect_tpx3.hpp"

#include "core/runtime/json.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/tpx3/tpx3_reader.hpp"

namespace eventloom {

Json inspect_tpx3(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const std::string& path = uri.path();
  const auto reader = open_tpx3(uri, std::span(&path, 1), {0}, {.tick_ps = tick_ps.value_or(1)});
  return inspect_hits(*reader, "tpx3",
                      {{"tick_ps", reader->header().base.tick_ps}, {"contents", reader->header().text}}, n_events);
}

}  // namespace eventloom
