#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
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

/// The arguments with which a live source is opened.
struct FeedOpening {
  SourceId id;
  TimeBase base;
  LiveInputSettings settings;
  UdpPorts& ports;
};

/// Everything the program knows of a kind of input: a row of the table in registry.cpp.
///
/// One of `read`, `stream` and `feed` opens a source; each checks the values of its keys, and throws UserError when the
/// source cannot be opened or does not match the URI.
struct SourceScheme {
  std::string_view name;  ///< of its URIs, before the colon
  std::string_view form;  ///< of its URIs, for --help
  /// Of paths that imply this scheme when none is given.
  std::array<std::string_view, 2> endings = {};
  std::span<const SourceKey> keys = {};     ///< of its own
  bool shifts = true;                       ///< has kCommonKeys, too
  bool holds_events = false;                ///< times are event numbers unless the key `time` says otherwise
  bool trb_events = false;                  ///< recorded events of TRB boards, which `send` plays
  bool list_mode = false;                   ///< of GSI: `time=wr` counts TAI, and MBS servers send its files
  bool states_origin = false;               ///< the key `origin` may say in UTC when tick 0 is
  std::uint64_t disorder_ps = kDisorderPs;  ///< ordinary, where the key `reorder` does not say it
  bool adds_offset = false;                 ///< its readers heed the key `offset`: times may be negative before
  Expand expand = expand_files;             ///< the sources that a URI names
  FilesOf files = files_at_path;            ///< of one source
  DataOf data = data_of_files;              ///< of one source, so that no data enter a run twice
  /// Throws UserError when several sources of this kind cannot be read together; null: they always can.
  void (*together)(std::span<const SourceUri> uris) = nullptr;

  /// Whether a file is of this kind, by the first bytes of its contents; null: the contents do not show it.
  bool (*recognise)(std::span<const std::byte> head) = nullptr;

  /// Hits of a foreign format, turned into epoch buffers on demand.
  std::unique_ptr<HitReader> (*read)(const SourceUri& uri, SourceId id, const TimeBase& base) = nullptr;
  /// Streams of epoch buffers, with a clock of their own.
  std::unique_ptr<Source> (*stream)(const SourceUri& uri, const TimeBaseOptions& base) = nullptr;
  /// Live data.
  std::unique_ptr<LiveFeed> (*feed)(const SourceSpec& spec, const FeedOpening& opening) = nullptr;
  /// How a folder of time-sorted streams was made; null: it is no such folder.
  SortedManifest (*manifest)(const SourceUri& uri) = nullptr;
  /// Its events one by one, for `serve`; null: not supported.
  OpenPlayer play = nullptr;
  double most_jump_s = 0;  ///< of the clock of a feed: data farther ahead are not accepted at once; 0: all are

  /// Its contents, with the first `n_events` events: "file", "kind", "damaged" and more; null: not supported. Times in
  /// ticks of this length; nothing: as suits the file.
  nlohmann::ordered_json (*inspect)(const SourceUri& uri, std::uint64_t n_events,
                                    std::optional<std::uint64_t> tick_ps) = nullptr;

  [[nodiscard]] bool is_live() const { return feed != nullptr; }
  /// In any case, and of compressed files before the ending that says so.
  [[nodiscard]] bool has_ending(std::string_view path) const;
  /// Its own, then those that it shares with all.
  [[nodiscard]] std::vector<SourceKey> all_keys() const;
};

/// In the order of --help.
std::span<const SourceScheme> source_schemes();
/// Null when there is none of this name.
const SourceScheme* find_scheme(std::string_view name);
/// Throws UserError when there is none.
const SourceScheme& scheme_of(const SourceUri& uri);

/// The scheme of a file: by its contents, or else by the ending of its name; null when neither tells.
const SourceScheme* scheme_of_file(const std::string& path);

/// Parses a URI as users write it: without a scheme, the files tell it (see scheme_of_file()); a text that is the name
/// of a file is that file. Throws UserError when the scheme or a key is unknown, the text is not a URI, or the files
/// are of several kinds.
SourceUri parse_source_uri(const std::string& text);

/// One line for messages: `item` of each scheme for which it is not empty, separated by commas.
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
