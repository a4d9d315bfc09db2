#pragma once

#include <cstdint>
#include <optional>

#include "core/dataflow/event_sink.hpp"
#include "core/dataflow/run_totals.hpp"
#include "core/monitor/channel_counts.hpp"
#include "core/monitor/rank_record.hpp"
#include "core/monitor/telemetry_settings.hpp"
#include "core/runtime/pace.hpp"

namespace eventloom {

/// Counts what passes to a sink, fills histograms of the events, and keeps the latest events if requested. Histograms
/// and channels take at most half a percent of the thread's time, plus up to a tenth of a second of unused time: in a
/// faster run they omit some slices. The counters include all slices.
class WatchedSink final : public EventSink {
 public:
  /// `sink` and `hits`, which counts hits by channel, must outlive it. `most_hits`: maximum hits of the events kept at
  /// a time.
  WatchedSink(std::uint32_t writer, EventSink& sink, const TelemetrySettings& settings, std::size_t most_hits,
              ChannelCounts& hits);

  void write(const BuiltSlice& slice) override;
  /// Adds the counts to `record`, and moves the kept events there.
  void add_to(RankRecord& record);

 private:
  void picture(const BuiltSlice& slice);
  void fill(const BuiltSlice& slice);
  void add_intervals(const BuiltSlice& slice);
  void add_latencies(const BuiltSlice& slice);
  void keep_events(const BuiltSlice& slice);
  static void put_event(const BuiltSlice& slice, std::size_t event, std::size_t first_hit, std::size_t hits_sent,
                        LatestEvent& latest);
  static void put_payload(const BuiltSlice& slice, std::size_t first_hit, std::size_t first_word, LatestEvent& latest);
  LogHistogram& operator[](HistogramKind kind) { return histograms_[static_cast<std::size_t>(kind)]; }

  std::uint32_t writer_;
  EventSink& sink_;
  TelemetrySettings settings_;
  std::size_t most_hits_;
  ChannelCounts& hits_;
  RunTotals totals_;
  Histograms histograms_;
  std::vector<LatestEvent> events_;  ///< latest first
  Pace pace_;
  Pace::Duration used_{};  ///< CPU time
  Pace::Duration next_{};  ///< on the steady clock: earlier slices are skipped
  std::optional<SliceId> last_slice_;
  std::optional<Tick> last_time_;  ///< time of the last event written, if the next is known to follow it
};

}  // namespace eventloom
