#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "app/observe/run_snapshot.hpp"
#include "core/control/collective.hpp"
#include "core/monitor/rank_record.hpp"
#include "core/monitor/run_picture.hpp"
#include "io/live/kept_feed.hpp"

namespace eventloom {

/// Shows the monitor which front ends send between two runs: each source that has been heard has a row with its state,
/// the hits and bytes received since the last run, and its counters.
class IdleWatch {
 public:
  using Time = RunTracker::Time;

  /// `shelf`: the feeds of this rank. Both must outlive this object. `message`: what the program is waiting for; used
  /// on rank 0.
  IdleWatch(const FeedShelf& shelf, const Collective& ranks, std::string message);

  /// Whether rank 0 should look again: about once a second.
  [[nodiscard]] bool due(Time now) const { return tracker_.due(now); }
  /// Collective. Returns the state of all sources on rank 0, null elsewhere.
  std::shared_ptr<RunSnapshot> look(Time now);

 private:
  struct Known {
    std::uint64_t bytes_before = 0;  ///< received before the watch began
    Counters counters;
    std::uint64_t hits = 0;
    Time news{};  ///< when it was last seen to have sent something
  };

  [[nodiscard]] RankRecord record(Time now);
  [[nodiscard]] SourceState state_of(const FeedShelf::Feed& feed, Time now);

  const FeedShelf& shelf_;
  const Collective& ranks_;
  std::string message_;
  std::map<std::uint32_t, Known> known_;
  RankRecord reported_;
  RunPicture picture_;
  RunTracker tracker_;
};

}  // namespace eventloom
