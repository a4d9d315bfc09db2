#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/live/live_options.hpp"
#include "io/sources/source_uri.hpp"

namespace eventloom {

class UdpPort;

/// Whether data of a source come when they come.
bool is_live(const SourceUri& uri);
/// Whether recordings of live sources have such names.
bool is_recording_name(const std::string& name);

/// Opens live sources; those of one UDP port share its socket when the same opener opens them.
class LiveOpener {
 public:
  explicit LiveOpener(LiveOptions options) : options_(std::move(options)) {}

  /// `board`: which of those at a UDP port; `id`: its number in the run. Throws UserError when the address cannot be
  /// used, or a recording is in the way.
  std::unique_ptr<LiveStream> open(const SourceUri& uri, std::uint32_t board, SourceId id, const TimeBase& base);

 private:
  std::unique_ptr<LiveFeed> open_feed(const SourceUri& uri, std::uint32_t board, SourceId id, const TimeBase& base);
  [[nodiscard]] std::string recording_of(SourceId id) const;

  LiveOptions options_;
  std::map<std::string, std::shared_ptr<UdpPort>> ports_;  ///< by path
};

}  // namespace eventloom
