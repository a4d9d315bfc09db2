#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/dataflow/live_positions.hpp"
#include "core/dataflow/live_stream.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/held_buffers.hpp"
#include "io/live/feed_recording.hpp"
#include "io/live/held_data.hpp"
#include "io/live/held_losses.hpp"
#include "io/live/live_account.hpp"
#include "io/live/live_feed.hpp"
#include "io/live/live_return.hpp"
#include "io/live/peer_clock.hpp"
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
  std::optional<Epoch> first_epoch() override { return beginning_.first ? beginning_.first : beginning_.stated; }
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return losses_.tail(); }
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] std::vector<std::string> remarks() const override;
  [[nodiscard]] SourceCounts counts() const override;

  [[nodiscard]] LivePeer peer() const override;
  void fix_header() override;
  void begin(LiveBegin begin) override;
  void expect(Epoch epoch) override;
  std::size_t receive() override;
  [[nodiscard]] LiveProgress progress() const override;
  [[nodiscard]] bool request(EpochRange epochs) override;
  bool advance(Epoch to, Advance how) override;
  void finish(std::optional<Epoch> end) override;
  void close() override;

 private:
  /// The beginning of the peer's data.
  struct Beginning {
    std::optional<Epoch> first;   ///< first epoch of the data received
    std::optional<Epoch> stated;  ///< the same, stated by the feed before it has delivered data
    bool joined = false;          ///< the peer had sent earlier data
  };
  /// State of the feed beyond the data that it has delivered.
  struct Rest {
    Epoch seen_end = 0;    ///< end of the data that it holds back
    Epoch settled = 0;     ///< it was asked to deliver everything before this epoch
    bool held_up = false;  ///< it has more that cannot come at present
    bool stopped = false;  ///< it was asked to receive no more
    bool ended = false;    ///< it has no more data
  };

  [[nodiscard]] bool listens() const;
  [[nodiscard]] bool starved() const { return positions_.complete() < wanted_; }
  [[nodiscard]] Epoch data_end() const { return std::max(positions_.taken(), losses_.end()); }
  [[nodiscard]] bool is_news(const FeedBatch& batch) const;
  [[nodiscard]] std::optional<PeerPlace> place_so_far() const;
  void take_progress();
  void count_rest();
  void report_unheard();
  void put_back_rest();
  void restart();
  [[nodiscard]] LiveReturn::Missed join(std::span<const std::byte> first, std::uint64_t received_before);
  [[nodiscard]] LiveReturn::Missed join_without_data(std::uint64_t received);
  [[nodiscard]] bool shows_missing_numbers() const;
  void note_last(const HeldBuffers& chunk);
  void note_stop();
  void note_missed(const LiveReturn::Missed& missed);
  void add_missed(const LiveReturn::Missed& missed, Epoch first);
  [[nodiscard]] static std::uint64_t hits_in(const FeedBatch& batch);
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
  void report_congestion(const Damage& damage) const;
  void add_damage(const Damage& damage);
  void add_missing(EpochRange epochs);
  [[nodiscard]] bool has_settled(Epoch end);
  [[nodiscard]] std::uint64_t hits_beyond_end() const;

  std::unique_ptr<LiveFeed> feed_;
  Settings settings_;
  std::string shown_;  ///< name in messages; empty: that of the feed
  StreamHeader header_;
  std::optional<FeedRecording> recording_;
  StepFilter steps_;
  FeedBatch batch_;
  LivePositions positions_;
  HeldData held_;
  Epoch wanted_ = 0;  ///< end of an awaited slice that exceeds the memory limit
  HeldLosses losses_;
  LiveAccount account_;
  Beginning beginning_;
  Rest rest_;
  LiveReturn return_;
  std::vector<std::byte> last_;  ///< the last stored buffer, if missing numbers show what was lost
  PeerClock clock_;
  std::vector<std::string> remarks_;
  bool unheard_ = false;  ///< the peer has sent nothing
};

}  // namespace eventloom
