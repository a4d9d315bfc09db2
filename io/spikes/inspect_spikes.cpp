#include "io/spikes/inspect_spikes.hpp"

#include <stdexcept>

#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "formats/spikes.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/spikes/spikes_reader.hpp"

namespace eventloom {

namespace {

SpikeFileHeader file_header(const std::string& path) {
  try {
    return decode_spike_header(FileReader(path).front(sizeof(SpikeFileHeader)));
  } catch (const UserError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw UserError("cannot read '" + path + "': " + e.what());
  }
}

}  // namespace

Json inspect_spikes(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto header = file_header(uri.path());
  const auto reader = open_spikes(uri, {0}, {.tick_ps = tick_ps.value_or(header.tick_ps)});
  return inspect_hits(
      *reader, "spikes",
      {{"version", header.version}, {"tick_ps", reader->header().base.tick_ps}, {"channel_base", header.channel_base}},
      n_events);
}

}  // namespace eventloom
