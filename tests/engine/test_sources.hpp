#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "event_reference.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {

/// A recording in memory. It is strict: it throws std::logic_error if released epochs are collected, and overwrites
/// their memory.
class RecordedStream final : public Source {
 public:
  /// `collected`: called with the epochs collected; may throw, or be empty.
  RecordedStream(SourceId id, TimeBase base, Stream buffers, std::function<void(EpochRange)> collected);
  /// After its last buffer the recording is damaged, for an unknown time.
  void break_off() { breaks_off_ = true; }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override;
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }

 private:
  StreamHeader header_;
  std::string name_;
  Stream buffers_;
  std::size_t kept_ = 0;  ///< buffers before this one are overwritten
  Epoch forgotten_ = 0;
  Epoch seen_ = 0;  ///< one past the last epoch requested
  bool breaks_off_ = false;
  std::function<void(EpochRange)> collected_;
};

/// A table with these hits, in this order; `unique`: without copies.
std::unique_ptr<Source> open_table(SourceId id, TimeBase base, const PayloadTable& payload,
                                   const std::vector<RefHit>& hits, bool unique);

/// A buffer that a peer sends, and when.
struct Arrival {
  std::int64_t time_ns = 0;
  StoredBuffer buffer;
};

/// A peer that sends buffers at their times, by the test's clock, and ends with the last one. Like other feeds, it
/// hands over little at a time, even if data have waited.
class ScriptedFeed final : public LiveFeed {
 public:
  ScriptedFeed(SourceId id, TimeBase base, std::vector<Arrival> arrivals, std::function<std::int64_t()> clock);

  [[nodiscard]] StreamHeader header() const override { return header_; }
  [[nodiscard]] bool header_known() const override { return true; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_connected() const override { return true; }
  void take(FeedBatch& batch) override;
  void stop() override { stopped_at_ = clock_(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }
  [[nodiscard]] SourceCounts counts() const override { return {}; }

 private:
  StreamHeader header_;
  std::string name_;
  std::deque<Arrival> arrivals_;
  Epoch complete_ = 0;
  std::int64_t stopped_at_ = std::numeric_limits<std::int64_t>::max();
  std::function<std::int64_t()> clock_;
};

}  // namespace eventloom::test
