#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// The receiving side of a live source that outlasts a run: each run leases it. Hits belong to the run in whose time
/// they lie: those received beyond the end of a run are put back, for the next run or to be discarded.
///
/// Between two leases the feed continues to receive, into its own queue.
class KeptFeed {
 public:
  explicit KeptFeed(std::unique_ptr<LiveFeed> feed) : feed_(std::move(feed)) {}

  /// Discards the data put back and those that have arrived; returns the number of hits, lost ones included. Call only
  /// between leases.
  std::uint64_t discard();
  /// Whether the peer has ended its stream, according to the data taken.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether a run before the current one has leased it.
  [[nodiscard]] bool had_run() const { return leases_ > 1; }
  /// Whether its peer's numbers wrap around and no run has begun yet: until then it delivers nothing, and holds what it
  /// receives.
  [[nodiscard]] bool awaits_run() const { return leases_ == 0 && feed_->wraps_after() != 0; }
  /// Hits discarded since the last lease.
  [[nodiscard]] std::uint64_t hits_discarded() const { return hits_discarded_; }
  [[nodiscard]] const LiveFeed& feed() const { return *feed_; }

 private:
  friend class LeasedFeed;
  /// Counts of the feed when the current lease began.
  struct Before {
    SourceCounts counts;
    std::uint64_t anomalies = 0;
    std::size_t remarks = 0;
  };

  void take(FeedBatch& batch);

  std::unique_ptr<LiveFeed> feed_;
  FeedBatch rest_;       ///< put back by the last run
  FeedBatch discarded_;  ///< memory for discard()
  Before before_;
  std::uint64_t leases_ = 0;
  bool idled_ = false;                ///< it has received between runs, or before the first
  std::uint64_t hits_discarded_ = 0;  ///< since the last lease
  Epoch begin_ = 0;                   ///< the next lease begins at this epoch: earlier data were used or discarded
  Epoch complete_ = 0;                ///< later data do not begin before this epoch
  bool ended_ = false;
};

/// The feed of one run, see KeptFeed. A run that follows another joins its source while it is sending: the hits
/// discarded since then become a loss before the first data.
class LeasedFeed final : public LiveFeed {
 public:
  explicit LeasedFeed(std::shared_ptr<KeptFeed> kept);

  [[nodiscard]] StreamHeader header() const override { return feed().header(); }
  [[nodiscard]] bool header_known() const override { return feed().header_known(); }
  StreamHeader fix_header() override { return is_first() ? feed().fix_header() : feed().header(); }
  [[nodiscard]] const std::string& name() const override { return feed().name(); }
  [[nodiscard]] std::int64_t started_ns() const override { return feed().started_ns(); }
  [[nodiscard]] bool is_connected() const override { return feed().is_connected(); }
  [[nodiscard]] std::optional<std::string> unheard() const override { return feed().unheard(); }
  [[nodiscard]] Epoch wraps_after() const override { return is_first() ? feed().wraps_after() : Epoch(0); }
  void begin_at(Epoch epoch) override {
    if (is_first()) feed().begin_at(epoch);
  }
  void others_at(Epoch epoch) override { feed().others_at(epoch); }
  [[nodiscard]] bool settle(Epoch end) override { return feed().settle(end); }
  void take(FeedBatch& batch) override;
  void end_at(Epoch end) override { end_ = end; }
  /// Ends this feed once everything received before end_at() was delivered; the source continues.
  void stop() override { stopping_ = true; }
  void safe_before(Epoch epoch) override { feed().safe_before(epoch); }
  [[nodiscard]] bool outlasts_run() const override { return true; }
  void put_back(FeedBatch rest) override;
  [[nodiscard]] bool counts_hits() const override { return feed().counts_hits(); }
  [[nodiscard]] std::vector<std::string> remarks() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return feed().anomalies() - kept_->before_.anomalies; }
  [[nodiscard]] SourceCounts counts() const override { return feed().counts().since(kept_->before_.counts); }

 private:
  [[nodiscard]] LiveFeed& feed() const { return *kept_->feed_; }
  [[nodiscard]] bool is_first() const { return kept_->leases_ == 1; }
  void add_discarded(FeedBatch& batch);

  std::shared_ptr<KeptFeed> kept_;
  Epoch begin_;  ///< the source had sent earlier data to others; 0: it had not
  std::optional<Epoch> end_;
  bool joined_ = false;  ///< the discarded hits were reported
  bool stopping_ = false;
};

/// The feeds that outlast the runs of one rank, by source. Live sources that share a port share it from run to run.
class FeedShelf {
 public:
  using Open = std::function<std::unique_ptr<LiveFeed>()>;

  /// Leases the feed of a source to a run; calls `open` if it is not kept yet.
  std::unique_ptr<LiveFeed> lease(SourceId id, const Open& open);
  /// Keeps the feed of a source, so that it receives before the next run begins.
  void keep(SourceId id, const Open& open);
  /// Whether an earlier run has leased this feed: the current one joins the source while it is sending.
  [[nodiscard]] bool had_run(SourceId id) const;
  /// A feed between two runs.
  struct Feed {
    std::uint32_t source = 0;
    std::uint64_t hits = 0;  ///< discarded since the last run
    bool connected = false;
    bool ended = false;  ///< its peer has ended its stream
    Counters counters;
  };
  [[nodiscard]] std::vector<Feed> feeds() const;

  /// Discards what has arrived since the last run; returns the number of hits.
  std::uint64_t discard();
  /// Closes the feeds that hold what they receive until the first run begins, once they have received more than
  /// `bytes`. Returns whether there were any.
  bool close_waiting(std::uint64_t bytes);
  /// Closes the feeds that have ended, so that the next lease reopens them; those of a port are closed once all of them
  /// have ended. `ports`: by source; std::nullopt: the feed is kept. Returns the number of hits discarded.
  std::uint64_t close_ended(std::span<const std::optional<std::uint32_t>> ports);

 private:
  std::map<std::uint16_t, std::shared_ptr<KeptFeed>> feeds_;
};

}  // namespace eventloom
