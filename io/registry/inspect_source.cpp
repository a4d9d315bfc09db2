#include "io/registry/inspect_source.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/order_of_times.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/source_turns.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {

namespace {

Json inspect_joined(const SourceSpec& spec, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto& scheme = scheme_of(spec.uri);
  const bool numbered = holds_event_numbers(spec.uri);
  const auto suitable = spec.uri.get("unit", "") == "ps" ? 1 : scheme.suitable_tick_ps;
  const auto base = time_base_of({.tick_ps = tick_ps.value_or(suitable), .epoch_ticks = {}}, numbered);
  const auto reader = scheme.read(placed_uri(spec), {0}, base);
  Json header = {{"uri", spec.uri.text()}};
  if (numbered) {
    header["times"] = "event numbers";
  } else {
    header["tick_ps"] = base.tick_ps;
  }
  const auto files = files_of(spec);
  header["files"] = files;
  header["contents"] = reader->header().text;
  auto shown = inspect_hits(*reader, std::string(scheme.name), std::move(header), n_events);
  shown["file"] = spec.uri.path();
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += std::filesystem::file_size(file);
  shown["file_bytes"] = bytes;
  return shown;
}

Json lost(const SourceSpec& spec) {
  return {{"file", spec.uri.path()},
          {"kind", scheme_of(spec.uri).name},
          {"damaged", true},
          {"file_bytes", std::filesystem::file_size(spec.uri.path())},
          {"header", {{"uri", spec.uri.text()}}},
          {"problems", {spec.defect}}};
}

}  // namespace

Json inspect_source(const SourceSpec& spec, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto& scheme = scheme_of(spec.uri);
  if (scheme.inspect == nullptr || is_followed(spec.uri)) {
    throw UserError(
        "'" + spec.uri.text() + "': inspect shows files, and sources of " +
        list_schemes([](const auto& known) { return known.inspect != nullptr ? std::string(known.name) + ":" : ""; }));
  }
  if (!spec.defect.empty()) return lost(spec);
  return spec.uri.has("concat") ? inspect_joined(spec, n_events, tick_ps)
                                : scheme.inspect(placed_uri(spec), n_events, tick_ps);
}

}  // namespace eventloom
