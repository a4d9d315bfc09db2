#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/live_stream.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/live/live_options.hpp"
#include "io/registry/source_spec.hpp"
#include "io/serve/event_player.hpp"
#include "io/sorted/sorted_manifest.hpp"
#include "io/udp/udp_ports.hpp"

namespace eventloom {

/// The sources that `uris` name, in their order: a glob gives one per file, in the order of found_files(), or one in
/// all with the key `concat`; likewise an HDF5 group pattern one per group. Throws UserError when one names none, two
/// have the same data, or a file is entirely unreadable.
std::vector<SourceSpec> expand_sources(std::span<const std::string> uris);

/// Likewise, and looks into the files for what names do not show: copies are marked (SourceSpec::copy), and a source of
/// copies, or sources whose clocks cannot be told apart, are refused. One rank of a run is enough.
std::vector<SourceSpec> expand_and_compare(std::span<const std::string> uris);

/// The recordings that `uris` name, in their order, to be played. Throws UserError when one names none, or what cannot
/// be played, or two have the same data.
std::vector<PlayedFile> expand_played(std::span<const std::string> uris);

/// The files of a source; none for a generator or a live source.
std::vector<std::string> files_of(const SourceSpec& spec);
/// Whether the data of a source arrive live.
bool is_live(const SourceUri& uri);
/// Whether the times of a foreign or live source are event numbers.
bool holds_event_numbers(const SourceUri& uri);
/// How a folder of time-sorted streams was made; nothing for other sources. Throws UserError.
std::optional<SortedManifest> sorted_manifest(const SourceUri& uri);

/// An open source.
struct OpenedSource {
  std::unique_ptr<Source> stream;
  LiveStream* live = nullptr;  ///< the same object, for a live source
};

/// Opens sources; live ones that share a port must be opened by the same opener.
class SourceOpener {
 public:
  explicit SourceOpener(const TimeBaseOptions& base, LiveOptions live = {}) : base_(base), live_(std::move(live)) {}

  /// `id`: its number in the run. Throws UserError when it cannot be opened, is an .epochs file of another clock than
  /// requested, or when a recording of that live source exists already.
  OpenedSource open(const SourceSpec& spec, SourceId id);
  /// The receiving side of a live source alone.
  std::unique_ptr<LiveFeed> open_feed(const SourceSpec& spec, SourceId id);

 private:
  [[nodiscard]] TimeBase base_of(const SourceUri& uri) const;
  [[nodiscard]] LiveInputSettings input_settings() const;
  std::unique_ptr<LiveStream> open_live(const SourceSpec& spec, SourceId id);

  TimeBaseOptions base_;
  LiveOptions live_;
  UdpPorts ports_;
};

/// Opens a single source.
inline std::unique_ptr<Source> open_source(const SourceSpec& spec, SourceId id, const TimeBaseOptions& base) {
  return SourceOpener(base).open(spec, id).stream;
}

}  // namespace eventloom
