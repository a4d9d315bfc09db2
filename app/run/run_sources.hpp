#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/run/run_definition.hpp"
#include "core/control/collective.hpp"
#include "core/engine/role_layout.hpp"
#include "core/engine/source_role.hpp"
#include "io/live/kept_feed.hpp"
#include "io/live/live_options.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// The sources of a run, and how long it waits for live ones.
struct SourceSettings {
  std::vector<std::string> uris;
  /// The URIs of the run that is continued, as its record has them; empty: none is, or not rank 0.
  std::vector<std::string> uris_before;
  TimeBaseOptions time_base;
  std::string time_origin;  ///< UTC of tick 0 as utc_text() writes it; empty: not given
  LiveOptions live;
  FeedShelf* shelf = nullptr;                ///< this rank's feeds, which outlast the run; null: they end with it
  double speed = 0;                          ///< recorded time per real time; 0: as fast as possible
  std::uint64_t loops = 1;                   ///< passes over recorded sources
  std::chrono::nanoseconds duration{};       ///< 0: until the sources end
  std::chrono::nanoseconds epoch_timeout{};  ///< 0: no live source is given up
  std::chrono::nanoseconds stall_warning{};  ///< 0: silent live sources are not reported
  bool had_payload = false;                  ///< hits of the output that the run continues have payload
};

/// Opens the sources that belong to `rank`, in ascending order of numbers. Throws UserError.
std::vector<LocalSource> open_local_sources(const SourceSettings& settings, const std::vector<SourceSpec>& specs,
                                            const Roles& roles, int rank);

/// The feeds to open before a run begins.
enum class FeedsKept : std::uint8_t {
  all,
  of_peers,  ///< not of followed files, whose data do not pass
};

/// Opens the feeds of live sources that belong to `rank` and are not on the shelf yet, so that they receive before a
/// run begins. Throws UserError once it has tried all.
void keep_feeds(const SourceSettings& settings, const std::vector<SourceSpec>& specs, const Roles& roles, int rank,
                FeedsKept which);

/// Observes the wait for live sources.
class LiveWait {
 public:
  virtual ~LiveWait() = default;
  /// Called before each look at the sources, with the number of live sources and of those described; both are 0 the
  /// first time.
  virtual void wait(std::size_t live, std::size_t known) = 0;
  /// Called after a look, for each source of this rank that counts and was heard.
  virtual void hear(SourceId /*source*/, const PeerPlace& /*place*/) {}
  /// Whether the run was asked to end, as by a signal.
  [[nodiscard]] virtual bool waits_no_longer() const { return false; }
};

/// Collective. Waits until all live sources are described and their first data are known; at most --epoch-timeout
/// longer than until the first is, and 0.2 s if the run is asked to stop. The sources receive meanwhile. Afterwards the
/// headers of live sources are final. Returns false if --duration has elapsed.
bool wait_for_live(std::vector<LocalSource>& local, const SourceSettings& settings, const Collective& ranks,
                   LiveWait& watch);

/// Collective. With --loop, replaces the recordings in `local` by looped ones. All passes have the same length and are
/// separated by a gap longer than any event. Throws UserError, the same on all ranks.
void loop_recordings(std::vector<LocalSource>& local, const std::vector<SourceSpec>& specs,
                     const SourceSettings& settings, const BuildingSettings& building, const Collective& ranks);

}  // namespace eventloom
