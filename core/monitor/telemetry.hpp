#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/control/message_channel.hpp"
#include "core/monitor/run_picture.hpp"
#include "core/monitor/telemetry_settings.hpp"
#include "core/monitor/watched_sink.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// Lets rank 0 know what every rank has counted: each sends its record about once a second, in messages that say what
/// has changed (formats/telemetry_wire.hpp). Never blocks before finish(). One thread at a time.
class Telemetry {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Collective, as is destruction. Messages come every telemetry_interval().
  Telemetry(Network& network, const TelemetrySettings& settings);

  /// What is written to `sink`, which must outlive this, is counted on its way. The returned sink is this object's.
  EventSink& watch(std::uint32_t writer, EventSink& sink);
  /// Adds what else is counted on this rank.
  void set_counting(std::function<void(RankRecord&)> add) { add_ = std::move(add); }

  /// Once a turn. `rounds`: of the heartbeat that this rank has taken part in. Without one since the last message none
  /// is sent, so that they do not pile up where rank 0 is stuck.
  void do_work(Time now, std::uint64_t rounds);
  /// Collective: after the event loop, rank 0 gets the final record of each rank.
  void finish(Time now, IdlePolicy& idle);

  /// On rank 0.
  [[nodiscard]] const RunPicture& picture() const { return picture_; }

 private:
  void send(bool last);
  void receive(Time now);

  TelemetrySettings settings_;
  int rank_;
  std::size_t most_hits_;
  std::size_t most_channels_;  ///< of a message
  ChannelCounts hits_;         ///< written since they were last reported
  std::unique_ptr<MessageChannel> channel_;
  std::function<void(RankRecord&)> add_;
  std::vector<std::unique_ptr<WatchedSink>> sinks_;
  RankRecord told_;
  Time next_{};
  Time next_look_{};
  std::uint64_t rounds_ = 0;
  RunPicture picture_;
  std::vector<std::byte> buffer_;
};

}  // namespace eventloom
