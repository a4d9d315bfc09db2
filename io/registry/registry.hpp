#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/registry/expand_uri.hpp"
#include "io/registry/same_source.hpp"
#include "io/registry/source_spec.hpp"
#include "io/udp/udp_ports.hpp"

namespace eventloom {

/// What a live source is opened with.
struct FeedOpening {
  SourceId id;
  TimeBase base;
  LiveInputSettings settings;
  UdpPorts& ports;
};

/// All that the program knows of a kind of input: a row of the table in registry.cpp.
///
/// One of `read`, `stream` and `feed` opens a source; each checks the keys of its URI, and throws UserError when the
/// source cannot be opened or is not what the URI says.
struct SourceScheme {
  std::string_view name;                       ///< what stands before the colon of its URIs
  std::string_view form;                       ///< of its URIs, for --help
  std::string_view ending = {};                ///< of paths that are read so without a scheme; empty: of none
  std::array<std::string_view, 2> flags = {};  ///< keys that may stand alone
  bool holds_events = false;                   ///< times are event numbers unless the key `time` says otherwise
  Expand expand = expand_files;                ///< the sources that a URI names
  FilesOf files = files_at_path;               ///< of one source
  DataOf data = data_of_files;                 ///< of one source, so that nothing enters a run twice

  /// Whether a file is one, by what is in it; null: that does not tell.
  bool (*recognise)(const std::filesystem::path& file) = nullptr;

  /// Foreign hits, which become epoch buffers as they are needed.
  std::unique_ptr<HitReader> (*read)(const SourceUri& uri, SourceId id, const TimeBase& base) = nullptr;
  /// Streams that hold epoch buffers, with a clock of their own.
  std::unique_ptr<Source> (*stream)(const SourceUri& uri, const TimeBaseOptions& base) = nullptr;
  /// What comes when it comes.
  std::unique_ptr<LiveFeed> (*feed)(const SourceSpec& spec, const FeedOpening& opening) = nullptr;
  double most_jump_s = 0;  ///< of the clock of a feed: data that are farther ahead are not believed at once; 0: all are

  /// What is in it, with its first `n_events` events: "file", "kind", "damaged" and more; null: it is not shown.
  nlohmann::ordered_json (*inspect)(const SourceUri& uri, std::uint64_t n_events) = nullptr;

  [[nodiscard]] bool is_live() const { return feed != nullptr; }
};

/// In the order in which users are told of them.
std::span<const SourceScheme> source_schemes();
/// Nothing when there is none of this name.
const SourceScheme* find_scheme(std::string_view name);
/// Throws UserError when there is none.
const SourceScheme& scheme_of(const SourceUri& uri);

/// A URI as users write it: without a scheme, the ending of the path tells it. Throws UserError when the scheme is not
/// known, or the text is not of the form of a URI.
SourceUri parse_source_uri(const std::string& text);

/// One line for people: `item` of each scheme for which it is not empty, with commas between.
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
