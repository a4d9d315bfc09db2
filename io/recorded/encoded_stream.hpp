#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/runtime/message_limit.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/epochs/held_buffers.hpp"
#include "io/recorded/copy_search.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/recorded/loss_account.hpp"
#include "io/recorded/reorder_buffer.hpp"

namespace eventloom {

/// Settings for reading a live stream, in which no hit may end the program.
struct LiveReading {
  std::chrono::milliseconds longest_wait{
      100};  ///< longest wait of a hit for earlier ones; hits that come still later are dropped
  /// The epoch of the last hit is closed after this long without hits, unless times are event numbers: its hits must be
  /// delivered before the source is given up as too slow.
  std::chrono::milliseconds longest_quiet{1000};
  std::size_t most_bytes = std::size_t{32} << 20;  ///< limit of waiting hits; beyond it the oldest are released
  /// Hits later than this show that the clock has gone back, unless times are event numbers.
  std::chrono::hours longest_disorder{1};
  /// Without its peer the stream stands still: no hit is late that the peer sends when it is back. For a recorder, for
  /// which nothing waits.
  bool waits_for_peer = false;
  /// For a followed recording: hits wait as long as in a recording, and only settle() makes any of them late.
  bool as_recorded = false;
};

/// Reads a foreign format on demand and encodes it to epoch buffers, with the same bytes that `eventloom convert` would
/// write. Holds all data that have been read but not released.
class EncodedStream final : public Source {
 public:
  /// If `live` is given, hits that come too late to be sorted count as lost (late), as do hits whose time is beyond the
  /// last possible epoch (untimed).
  /// `drops_copies`: of hits that are equal in time, channel and payload, all but the first are dropped.
  EncodedStream(std::unique_ptr<HitReader> reader, ReorderLimits reorder, std::optional<LiveReading> live = {},
                bool drops_copies = false);

  /// Reads the next block of a live stream; waits only if the reader does. Returns the epoch before which every buffer
  /// and stretch of damage is complete, so that collect() up to there reads nothing; std::nullopt at the end of the
  /// stream. Epochs before `settle_to` are complete as soon as the reader holds back none of their hits; hits that
  /// follow are late.
  std::optional<Epoch> read_on(Epoch settle_to = 0);
  /// After read_on() has thrown: the stream ends with what was read before.
  void break_off();
  /// After the end: if the clock has gone back, returns the stream that begins there, which takes over the reader and
  /// the counts of this one; this one must no longer be used. Null when everything has been read.
  std::unique_ptr<EncodedStream> behind_the_jump();
  /// If `buffers`, from collect(), are all that the oldest chunk holds, and fill at least two thirds of its memory:
  /// exchanges the memory for `memory`, which is empty, and releases them. Otherwise returns false.
  bool exchange_chunk(std::span<const std::byte> buffers, std::vector<std::byte>& memory);
  /// First epoch of the stream, once it is certain, and one past the last epoch read. Both include hits held back by
  /// the reader. For live streams.
  [[nodiscard]] std::optional<Epoch> begins() const;
  [[nodiscard]] Epoch seen_end() const { return seen_end_; }

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return losses_.tail(); }
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override { return encoder_.hits() + losses_.hits(); }
  [[nodiscard]] std::optional<double> share_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override {
    return reader_->anomalies() + anomalies_before_ + losses_.without_hits();
  }
  [[nodiscard]] SourceCounts counts() const override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  void read_until(Epoch epoch);
  void encode(const ReorderBuffer::Hit& hit);
  void take_epoch(Tick time, Epoch epoch);
  void report_far(Tick time, Epoch epoch);
  void report_rare(Epoch epoch);
  [[nodiscard]] double seconds(Epoch epochs) const;
  void read_block();
  void take(HitBlock block);
  void finish_reading();
  [[nodiscard]] std::size_t jump_back(const HitBlock& block) const;
  [[nodiscard]] Tick earliest_in_time() const;
  void leave_out_late(HitBlock& block);
  void see(const HitBlock& block);
  void release_waiting();
  void stand_still();
  [[nodiscard]] Epoch complete() const { return encoder_.open_from().value_or(closed_); }
  void settle(Epoch end);
  void close_when_quiet();
  void close_open_before(Epoch epoch);
  [[noreturn]] void refuse_time(Tick time) const;
  void end();
  HeldBuffers& chunk_with_room();
  void drop_forgotten();
  void recycle_first();
  void close_buffer();

  struct Arrival {
    std::chrono::steady_clock::time_point at;
    std::uint32_t blocks = 0;  ///< blocks received by then
  };

  std::unique_ptr<HitReader> reader_;
  ReorderLimits reorder_;
  std::optional<LiveReading> live_;
  ReorderBuffer ordered_;
  std::deque<Arrival> arrivals_;      ///< blocks of a live stream that may still wait
  std::uint32_t arrived_ = 0;         ///< number of blocks
  std::optional<CopySearch> copies_;  ///< set: copies are dropped
  LossAccount losses_;
  Counters losses_before_;              ///< losses of the streams before the clock went back
  std::uint64_t anomalies_before_ = 0;  ///< anomalies of those streams
  HitBlock behind_the_jump_;            ///< first hits of the stream that follows, after the clock has gone back
  EpochBufferEncoder encoder_;
  std::deque<HeldBuffers> chunks_;
  std::vector<HeldBuffers> spares_;  ///< memory of released chunks
  std::optional<Epoch> first_epoch_;
  Epoch end_epoch_ = 0;
  Epoch seen_end_ = 0;                           ///< see seen_end()
  Epoch closed_ = 0;                             ///< hits of a live stream before this epoch are late
  std::chrono::steady_clock::time_point heard_;  ///< arrival of a live stream's last hits
  Epoch forgotten_ = 0;                          ///< epochs before this one are released
  MessageLimit reported_far_{3};                 ///< reported hits far from all others
  bool rate_checked_ = false;
  bool all_read_ = false;  ///< the reader is at its end
  bool ended_ = false;     ///< everything is encoded
};

}  // namespace eventloom
