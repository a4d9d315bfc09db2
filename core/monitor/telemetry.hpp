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

/// Reports the counts of every rank to rank 0: each sends its record about once a second, in messages that contain the
/// changes (formats/telemetry_wire.hpp). Never blocks before finish(). Not thread-safe.
class Telemetry {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Construction and destruction are collective. Messages are sent every telemetry_interval().
  Telemetry(Network& network, const TelemetrySettings& settings);

  /// Returns a sink, owned by this object, that counts what passes through it to `sink`, which must outlive this
  /// object.
  EventSink& watch(std::uint32_t writer, EventSink& sink);
  /// `add` adds further counts of this rank.
  void set_counting(std::function<void(RankRecord&)> add) { add_ = std::move(add); }

  /// Call every turn. `rounds`: heartbeat rounds in which this rank has taken part. Sends no message without a new
  /// round since the last one, so that messages do not pile up while rank 0 is stuck.
  void do_work(Time now, std::uint64_t rounds);
  /// Collective: after the event loop, rank 0 receives the final record of each rank.
  void finish(Time now, IdlePolicy& idle);

  /// Valid on rank 0.
  [[nodiscard]] const RunPicture& picture() const { return picture_; }

 private:
  void send(bool last);
  void receive(Time now);

  TelemetrySettings settings_;
  int rank_;
  std::size_t most_hits_;
  std::size_t most_channels_;  ///< maximum per message
  ChannelCounts hits_;         ///< hits written since they were last reported
  std::unique_ptr<MessageChannel> channel_;
  std::function<void(RankRecord&)> add_;
  std::vector<std::unique_ptr<WatchedSink>> sinks_;
  RankRecord reported_;
  Time next_{};
  Time next_look_{};
  std::uint64_t rounds_ = 0;
  RunPicture picture_;
  std::vector<std::byte> buffer_;
};

}  // namespace eventloom
