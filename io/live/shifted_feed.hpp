#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/marker_counts.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/stream_shift.hpp"

namespace eventloom {

/// Changes times and channels of another feed's data by the URI's keys `offset` and `system`. Hits are encoded into new
/// epoch buffers; other items are left out. Hits shifted before tick 0 become damage (untimed), as do buffers that
/// cannot be decoded (corrupt).
///
/// Hits wait until their epoch is complete or settle() asks for them. Everything waits until the header is known or
/// fixed.
class ShiftedFeed final : public LiveFeed {
 public:
  /// Throws UserError when a key is invalid.
  ShiftedFeed(std::unique_ptr<LiveFeed> feed, const SourceUri& uri);

  [[nodiscard]] StreamHeader header() const override { return feed_->header(); }
  [[nodiscard]] bool header_known() const override { return feed_->header_known(); }
  StreamHeader fix_header() override;
  [[nodiscard]] const std::string& name() const override { return feed_->name(); }
  [[nodiscard]] std::int64_t started_ns() const override;
  [[nodiscard]] bool is_connected() const override { return feed_->is_connected(); }
  [[nodiscard]] std::optional<std::string> unheard() const override { return feed_->unheard(); }
  [[nodiscard]] bool settle(Epoch end) override;
  void take(FeedBatch& batch) override;
  void safe_before(Epoch epoch) override;
  void stop() override { feed_->stop(); }
  [[nodiscard]] bool counts_hits() const override { return feed_->counts_hits(); }
  [[nodiscard]] std::vector<std::string> remarks() const override { return feed_->remarks(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return feed_->anomalies() + anomalies_; }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  struct Hit {
    Tick time = 0;
    std::uint32_t channel = 0;
    std::vector<std::uint32_t> payload;
  };

  void begin(const StreamHeader& header);
  void take_buffers(FeedBatch& batch);
  void take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, FeedBatch& batch);
  void release(Epoch end, FeedBatch& batch);
  [[nodiscard]] Epoch shifted(Epoch epoch, bool up) const;
  [[nodiscard]] Epoch unshifted(Epoch epoch) const;
  [[nodiscard]] Damage shifted(Damage damage) const;

  std::unique_ptr<LiveFeed> feed_;
  StreamShift shift_;
  TimeBase base_;
  bool begun_ = false;
  FeedBatch raw_;        ///< data that wait for the header
  StreamHeader header_;  ///< header of the feed, once known
  std::optional<EpochBufferEncoder> encoder_;
  std::vector<Hit> waiting_;  ///< shifted hits, ascending within a buffer, that wait for their epoch to be complete
  Epoch read_to_ = 0;         ///< end of the last buffer, in unshifted epochs
  Epoch settle_to_ = 0;       ///< epoch that settle() has asked for since the last take()
  std::uint64_t anomalies_ = 0;
  MarkerCounts left_out_;
};

/// Returns `feed` with the changes that the keys of `uri` make.
std::unique_ptr<LiveFeed> shifted(std::unique_ptr<LiveFeed> feed, const SourceUri& uri);

}  // namespace eventloom
