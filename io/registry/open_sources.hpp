#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/live_stream.hpp"
#include "formats/ids.hpp"
#include "io/live/kept_feed.hpp"
#include "io/live/live_feed.hpp"
#include "io/live/live_options.hpp"
#include "io/registry/source_spec.hpp"
#include "io/serve/event_player.hpp"
#include "io/sorted/sorted_manifest.hpp"
#include "io/udp/udp_ports.hpp"

namespace eventloom {

/// The sources that `uris` name, in their order. A glob yields one source per file, in the order of found_files(), or a
/// single source with the key `concat`; an HDF5 group pattern yields one per group. Throws UserError when a URI names
/// no source, two sources have the same data, or a file is entirely unreadable.
std::vector<SourceSpec> expand_sources(std::span<const std::string> uris);

/// The sources of several URIs, whose data are not compared.
struct ExpandedUris {
  std::vector<SourceSpec> specs;
  std::vector<std::size_t> ends;  ///< the number of sources up to the last one of each URI
};
ExpandedUris expand_uris(std::span<const std::string> uris);

/// Like expand_sources(), but also compares file contents. Copies are marked (SourceSpec::copy), and counters are
/// placed (SourceSpec::turns). Throws UserError for copies within one source, and for sources that cannot be read
/// together. Calling it on one rank of a run is enough. `before`: see place_turns().
std::vector<SourceSpec> expand_and_compare(std::span<const std::string> uris, std::span<const std::string> before = {});

/// The recordings to play that `uris` name, in their order. Throws UserError when a URI names none, a recording cannot
/// be played, or two have the same data.
std::vector<PlayedFile> expand_played(std::span<const std::string> uris);

/// The files of a source; empty for a generator or a live source.
std::vector<std::string> files_of(const SourceSpec& spec);
/// Whether the data of a source arrive live: from a peer, or in files that are followed.
bool is_live(const SourceUri& uri);
/// Whether they arrive in files, from which they can be read again.
bool is_followed(const SourceUri& uri);
/// Whether its recorder may remove what is on disk.
bool is_acknowledged(const SourceUri& uri);
/// The manifest of a folder of time-sorted streams; std::nullopt for other sources. Throws UserError if it is
/// unreadable.
std::optional<SortedManifest> sorted_manifest(const SourceUri& uri);

struct OpenedSource {
  std::unique_ptr<Source> stream;
  LiveStream* live = nullptr;  ///< the same object as `stream` for a live source, else null
};

/// Opens sources. Live sources that share a port must be opened by the same opener.
class SourceOpener {
 public:
  /// `shelf`: keeps the receiving sides of live sources beyond this run; null: they end with it.
  explicit SourceOpener(const TimeBaseOptions& base, LiveOptions live = {}, FeedShelf* shelf = nullptr)
      : base_(base), live_(std::move(live)), shelf_(shelf) {}

  /// `id`: the source's number in the run. Throws UserError when the source cannot be opened, when the clock of an
  /// .epochs file differs from the requested one, or when a recording of the live source already exists.
  OpenedSource open(const SourceSpec& spec, SourceId id);
  /// Opens only the receiving side of a live source.
  std::unique_ptr<LiveFeed> open_feed(const SourceSpec& spec, SourceId id);

 private:
  [[nodiscard]] TimeBase base_of(const SourceUri& uri) const;
  [[nodiscard]] LiveInputSettings input_settings() const;
  std::unique_ptr<LiveStream> open_live(const SourceSpec& spec, SourceId id);

  TimeBaseOptions base_;
  LiveOptions live_;
  FeedShelf* shelf_;
  UdpPorts ports_;
};

inline std::unique_ptr<Source> open_source(const SourceSpec& spec, SourceId id, const TimeBaseOptions& base) {
  return SourceOpener(base).open(spec, id).stream;
}

}  // namespace eventloom
