#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/runtime/json.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/files/followed_files.hpp"
#include "io/live/live_feed.hpp"
#include "io/recorded/clock_beginnings.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/time_order.hpp"
#include "io/registry/expand_uri.hpp"
#include "io/registry/same_source.hpp"
#include "io/registry/source_keys.hpp"
#include "io/registry/source_spec.hpp"
#include "io/serve/event_player.hpp"
#include "io/sorted/sorted_manifest.hpp"
#include "io/udp/udp_ports.hpp"

namespace eventloom {

/// Arguments for opening a live source.
struct FeedOpening {
  SourceId id;
  TimeBase base;
  TimeBaseOptions base_options;  ///< the user's choices
  LiveInputSettings settings;
  UdpPorts& ports;
};

/// Everything the program knows about a kind of input: a row of the table in registry.cpp.
///
/// Exactly one of `read`, `stream` and `feed` is set and opens a source. It checks the values of its keys, and throws
/// UserError when the source cannot be opened or does not match the URI.
struct SourceScheme {
  std::string_view name;  ///< the part of a URI before the colon
  std::string_view form;  ///< form of its URIs, for --help
  /// Endings of paths that imply this scheme when a URI has none.
  std::array<std::string_view, 2> endings = {};
  std::span<const SourceKey> keys = {};     ///< keys beyond kCommonKeys
  bool shifts = true;                       ///< also accepts kCommonKeys
  bool holds_events = false;                ///< times are event numbers unless the key `time` says otherwise
  bool trb_events = false;                  ///< recorded events of TRB boards, which `send` plays
  bool list_mode = false;                   ///< GSI list mode: `time=wr` counts TAI, and MBS servers send its files
  bool states_origin = false;               ///< the key `origin` may give tick 0 in UTC
  std::uint64_t disorder_ps = kDisorderPs;  ///< expected disorder, used without the key `reorder`
  bool adds_offset = false;                 ///< readers apply the key `offset` themselves: raw times may be negative
  Expand expand = expand_files;             ///< appends the sources that a URI names
  FilesOf files = files_at_path;            ///< lists the files of one source
  DataOf data = data_of_files;              ///< identifies the data of one source, so that none enter a run twice
  /// Throws UserError when several sources of this kind cannot be read together; null: they always can.
  void (*together)(std::span<const SourceUri> uris) = nullptr;
  /// Whether the times of a source are those of a counter that turns (HitReader::counter()), or event numbers of few
  /// bits; null: never.
  bool (*turns)(const SourceUri& uri) = nullptr;
  /// Reads how the clock of a file begins, for sources with the key `clock`; null where readers show their counters.
  std::optional<ClockBeginning> (*begins)(const std::string& file) = nullptr;
  std::uint64_t begins_below = 0;  ///< number at which that clock starts again
  bool one_clock = false;          ///< all its sources count one clock, unless the key `clock` says otherwise

  /// Whether a file is of this kind, judging by its first bytes; null if they do not identify the kind.
  bool (*recognise)(std::span<const std::byte> head) = nullptr;

  /// Reads the hits of a foreign format, which are encoded into epoch buffers on demand.
  std::unique_ptr<HitReader> (*read)(const SourceUri& uri, SourceId id, const TimeBase& base) = nullptr;
  /// Opens a stream of epoch buffers that has its own clock.
  std::unique_ptr<Source> (*stream)(const SourceUri& uri, const TimeBaseOptions& base) = nullptr;
  /// Reads the hits of files that are followed while they are written, for the key `follow`; null: not supported,
  /// unless `follow_stream` is set.
  std::unique_ptr<HitReader> (*follow)(const SourceUri& uri, SourceId id, const TimeBase& base,
                                       const Followed& files) = nullptr;
  /// Likewise for files of epoch buffers.
  std::unique_ptr<LiveFeed> (*follow_stream)(const SourceSpec& spec, const FeedOpening& opening) = nullptr;
  /// Opens the receiving side of a live source.
  std::unique_ptr<LiveFeed> (*feed)(const SourceSpec& spec, const FeedOpening& opening) = nullptr;
  /// Reads the manifest of a folder of time-sorted streams; null: not such a folder.
  SortedManifest (*manifest)(const SourceUri& uri) = nullptr;
  /// Plays its events one by one, for `serve`; null: not supported.
  OpenPlayer play = nullptr;
  double most_jump_s = 0;  ///< largest clock jump of a feed that is accepted at once; 0: any

  /// Finds the columns of each source that are not read; null: there are none.
  std::vector<std::vector<std::string>> (*unread)(std::span<const SourceUri> uris) = nullptr;

  std::uint64_t suitable_tick_ps = TimeBase{}.tick_ps;  ///< ticks in which `inspect` shows its times
  /// Describes its contents, with the first `n_events` events: "file", "kind", "damaged" and more; null: not supported.
  /// Times are in ticks of `tick_ps`; std::nullopt: the length that suits the file.
  Json (*inspect)(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) = nullptr;

  [[nodiscard]] bool is_live() const { return feed != nullptr; }
  [[nodiscard]] bool can_follow() const { return follow != nullptr || follow_stream != nullptr; }
  /// Compares case-insensitively, and ignores the ending of a compressed file.
  [[nodiscard]] bool has_ending(std::string_view path) const;
  /// Its own keys, then the common ones that it accepts.
  [[nodiscard]] std::vector<SourceKey> all_keys() const;
};

/// All schemes, in the order of --help.
std::span<const SourceScheme> source_schemes();
/// Null if no scheme has this name.
const SourceScheme* find_scheme(std::string_view name);
/// Throws UserError if the scheme is unknown.
const SourceScheme& scheme_of(const SourceUri& uri);

/// The scheme of a file, judging by its contents, or else by its ending; null when neither identifies it.
const SourceScheme* scheme_of_file(const std::string& path);

/// Parses a URI as users write it. Without a scheme, the files determine it (see scheme_of_file()). Text that names an
/// existing file stands for that file. Throws UserError when the scheme or a key is unknown, the text is not a URI, or
/// the files are of several kinds.
SourceUri parse_source_uri(const std::string& text);

/// One line for messages: the non-empty results of `item` for each scheme, separated by commas.
template <class Item>
std::string list_schemes(Item item) {
  std::string list;
  for (const auto& scheme : source_schemes()) {
    const std::string text(item(scheme));
    if (!text.empty()) list += (list.empty() ? "" : ", ") + text;
  }
  return list;
}

}  // namespace eventloom
