#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/dataflow/live_stream.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/held_buffers.hpp"
#include "io/live/feed_recording.hpp"
#include "io/live/live_feed.hpp"
#include "io/live/live_return.hpp"
#include "io/live/step_filter.hpp"

namespace eventloom {

/// The stream of a live input: holds the data received by its feed until the run has built them. Handles late data, and
/// data that arrive faster than the run can take them.
///
/// Back-pressure: when its memory is full, the stream either takes nothing from the feed, which then stops receiving,
/// or, if congestion drops data, it drops whole epoch buffers. It always drops them when the awaited slice exceeds its
/// memory, since waiting would never end.
class FeedStream final : public LiveStream {
 public:
  struct Settings {
    std::size_t buffer_bytes = std::size_t{256} << 20;
    bool drop_when_full = false;
    /// Path for a recording of all received data except those out of step; empty: none. A failed recording counts as an
    /// anomaly.
    std::string record;
    /// Longest jump ahead, in data time, that is accepted immediately; 0: unlimited.
    double most_jump_s = 0;
  };

  FeedStream(std::unique_ptr<LiveFeed> feed, Settings settings);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return shown_.empty() ? feed_->name() : shown_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override { return first_epoch_ ? first_epoch_ : begins_; }
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return tail_; }
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] std::vector<std::string> remarks() const override;
  [[nodiscard]] SourceCounts counts() const override;

  [[nodiscard]] LivePeer peer() const override;
  void fix_header() override;
  void show_as(std::string name) override { shown_ = std::move(name); }
  void resume_after(const LivePast& past) override { return_.resume_after(past); }
  void keep_place(std::function<void(const PeerPlace&)> keep) override { return_.keep(std::move(keep)); }
  void begin_at(Epoch epoch) override;
  void expect(Epoch epoch) override;
  std::size_t receive() override;
  [[nodiscard]] LiveProgress progress() const override;
  [[nodiscard]] bool is_crowded_before(Epoch epoch) const override;
  [[nodiscard]] bool request(EpochRange epochs) override;
  void give_up(Epoch end, bool missing) override;
  void pass(Epoch end) override;
  [[nodiscard]] bool settle(Epoch end) override;
  void finish() override;
  void end_at(Epoch end) override;
  void close() override;
  void safe_before(Epoch epoch) override { feed_->safe_before(epoch); }

 private:
  [[nodiscard]] bool drained() const { return ended_ || drained_; }
  [[nodiscard]] bool listens() const;
  [[nodiscard]] bool is_full() const { return held_bytes_ >= settings_.buffer_bytes; }
  [[nodiscard]] bool starved() const { return complete_ < wanted_; }
  [[nodiscard]] std::size_t held_after_release(Epoch epoch) const;
  [[nodiscard]] bool is_news(const FeedBatch& batch) const;
  void take_progress();
  void count_rest();
  [[nodiscard]] FeedBatch beyond_end() const;
  void put_back_rest();
  void restart();
  [[nodiscard]] LiveReturn::Missed join(std::span<const std::byte> first, std::uint64_t received_before);
  void add_missed(const LiveReturn::Missed& missed, Epoch first);
  void measure_clock();
  [[nodiscard]] std::uint64_t clock_difference_ns() const;
  [[nodiscard]] static std::uint64_t hits_in(const FeedBatch& batch);
  [[nodiscard]] std::uint64_t hits_received() const;
  void take_again(FeedBatch batch);
  void take_buffers(std::vector<std::byte> bytes);
  std::size_t take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                          HeldBuffers& chunk);
  std::size_t take_end(const EpochBufferHeader& header, std::span<const std::byte> stored, std::size_t at,
                       HeldBuffers& chunk);
  [[nodiscard]] std::optional<DropCause> refusal(const EpochBufferHeader& header, std::size_t taken);
  void leave_before(std::uint32_t hits);
  void drop(const EpochBufferHeader& header, DropCause cause);
  void take_damage(Damage damage);
  void note_dead_time(const Damage& damage);
  void add_damage(const Damage& damage);
  bool put_together(const Damage& damage);
  [[nodiscard]] std::uint64_t hits_beyond_end() const;

  std::unique_ptr<LiveFeed> feed_;
  Settings settings_;
  std::string shown_;  ///< name in messages; empty: that of the feed
  StreamHeader header_;
  std::optional<FeedRecording> recording_;
  StepFilter steps_;
  FeedBatch batch_;
  std::vector<std::byte> spare_;
  std::deque<HeldBuffers> chunks_;  ///< one per batch taken
  std::deque<Damage> damage_;       ///< ascending first epochs
  std::optional<Damage> tail_;      ///< loss after the end
  std::size_t held_bytes_ = 0;      ///< memory of the chunks
  Epoch wanted_ = 0;                ///< end of an awaited slice that exceeds the memory limit
  bool ended_ = false;              ///< the peer has ended the stream
  bool finishing_ = false;          ///< the run is ending the stream
  bool drained_ = false;            ///< the run has ended the stream, and all received data have been taken
  bool feed_ended_ = false;         ///< the feed has no more data, for either reason
  Epoch seen_end_ = 0;              ///< end of the data held back by the feed
  Epoch settled_ = 0;               ///< the feed was asked to deliver everything before this epoch
  Epoch peer_watermark_ = 0;        ///< the peer states that nothing that begins before this epoch will follow
  Epoch complete_ = 0;              ///< data that begin before this epoch are no longer awaited
  bool joined_ = false;             ///< the peer had sent earlier data
  bool begun_ = false;
  Epoch begin_ = 0;      ///< first epoch of the run
  Epoch closed_ = 0;     ///< data that begin before this epoch are late
  EpochRange passed_{};  ///< latest contiguous range of passed epochs
  std::uint64_t late_passed_ = 0;
  Epoch used_end_ = 0;                             ///< one past the last epoch of used buffers
  Epoch data_end_ = 0;                             ///< one past the last epoch of data taken, losses included
  Epoch end_ = std::numeric_limits<Epoch>::max();  ///< end of the run
  std::optional<Epoch> first_epoch_;
  std::optional<Epoch> begins_;  ///< first epoch, stated by the feed before it has delivered data
  std::uint64_t hits_ = 0;       ///< hits taken, including lost ones
  LiveReturn return_;
  std::uint64_t hits_missed_ = 0;  ///< part of hits_ that was lost while the run was interrupted
  std::vector<std::string> remarks_;
  std::optional<std::int64_t> clock_behind_ns_;  ///< minimum so far, since delays only increase it
  Epoch dead_epochs_ = 0;                        ///< number of epochs dropped by congestion
  std::array<std::uint64_t, kDropCauses> dropped_{};
  Counters counters_{Metric::epochs_given_up, Metric::hits_before_the_run};
};

}  // namespace eventloom
