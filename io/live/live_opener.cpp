#include "io/live/live_opener.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/runtime/error.hpp"
#include "io/files/durable.hpp"
#include "io/live/feed_stream.hpp"
#include "io/mbs/mbs_feed.hpp"
#include "io/udp/board_stream.hpp"
#include "io/udp/udp_feed.hpp"

namespace eventloom {

namespace {

/// Of what may be held of a source: what its feed may hold until it is in order, and for the stream to take.
constexpr std::uint64_t kFeedShare = 8;
constexpr std::uint64_t kMostInFeed = std::uint64_t{32} << 20;
/// As far as a server's time stamps are believed where they come from.
constexpr double kMostJumpOfServers_s = 3600;

std::uint64_t feed_share(std::uint64_t buffer_bytes) { return std::min(buffer_bytes / kFeedShare, kMostInFeed); }

/// Also a link to nothing.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

}  // namespace

bool is_live(const SourceUri& uri) { return uri.scheme() == "udp" || uri.scheme() == "mbs"; }

bool is_recording_name(const std::string& name) {
  return name.starts_with("source-") && (name.ends_with(".epochs") || name.ends_with(".epochs.partial"));
}

std::unique_ptr<LiveStream> LiveOpener::open(const SourceUri& uri, std::uint32_t board, SourceId id,
                                             const TimeBase& base) {
  FeedStream::Settings settings;
  settings.buffer_bytes = options_.buffer_bytes - 2 * feed_share(options_.buffer_bytes);
  settings.drop_when_full = options_.drop_when_full;
  settings.record = recording_of(id);
  settings.most_jump_s = uri.scheme() == "mbs" ? kMostJumpOfServers_s : BoardStream::kMostJump_s;
  return std::make_unique<FeedStream>(open_feed(uri, board, id, base), std::move(settings));
}

std::unique_ptr<LiveFeed> LiveOpener::open_feed(const SourceUri& uri, std::uint32_t board, SourceId id,
                                                const TimeBase& base) {
  LiveInputSettings settings;
  settings.buffer_bytes = feed_share(options_.buffer_bytes);
  settings.reconnect_seconds = options_.reconnect_seconds;
  if (uri.scheme() == "mbs") return open_mbs(uri, id, base, settings);
  auto& port = ports_[uri.path()];
  if (!port) port = open_udp_port(uri, settings, base);
  return std::make_unique<UdpFeed>(port, board);
}

/// A run that goes on begins another file beside those of the runs before it.
std::string LiveOpener::recording_of(SourceId id) const {
  if (options_.record.empty()) return {};
  const std::filesystem::path folder(options_.record);
  create_folder_durably(folder);
  for (int attempt = 0;; ++attempt) {
    char name[64];
    if (attempt == 0) {
      std::snprintf(name, sizeof name, "source-%04u.epochs", static_cast<unsigned>(id.value));
    } else {
      std::snprintf(name, sizeof name, "source-%04u-%02d.epochs", static_cast<unsigned>(id.value), attempt);
    }
    const auto path = folder / name;
    if (!is_there(path) && !is_there(path.string() + ".partial")) return path.string();
    if (!options_.go_on) {
      throw UserError("--record: '" + path.string() + "' exists; choose another folder, or move it away");
    }
  }
}

}  // namespace eventloom
