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

/// The data of another feed with the times and channels that the URI's keys `offset` and `system` give them: hits are
/// put into epoch buffers anew. Items other than hits are left out. Hits that would come before tick 0 become damage
/// (untimed), and so do buffers that do not decode (corrupt).
///
/// Hits wait until their epoch is complete, or settle() asks for them. Everything waits until the header is known or
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
  [[nodiscard]] bool settle(Epoch end) override;
  void take(FeedBatch& batch) override;
  void stop() override { feed_->stop(); }
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
  FeedBatch raw_;        ///< that waits for the header
  StreamHeader header_;  ///< since then
  std::optional<EpochBufferEncoder> encoder_;
  std::vector<Hit> waiting_;  ///< in rising times, shifted, for their epoch to be complete
  Epoch read_to_ = 0;         ///< end of the last buffer, as the feed numbers epochs
  Epoch settle_to_ = 0;       ///< what settle() has asked for since the last take()
  std::uint64_t anomalies_ = 0;
  MarkerCounts left_out_;
};

/// `feed`, with what the keys of `uri` change.
std::unique_ptr<LiveFeed> shifted(std::unique_ptr<LiveFeed> feed, const SourceUri& uri);

}  // namespace eventloom
