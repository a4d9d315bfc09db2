#include "core/monitor/telemetry.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/monitor/telemetry_message.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

namespace {

/// Maximum hits of events, over all ranks, reported in an interval.
constexpr std::size_t kMostHits = 8192;
constexpr std::size_t kMostHitsOfRank = 2000;
/// Maximum channels whose hits are reported in an interval, over all ranks.
constexpr std::size_t kMostChannels = 16384;
constexpr auto kReceiveEvery = std::chrono::milliseconds(20);

}  // namespace

Telemetry::Telemetry(Network& network, const TelemetrySettings& settings)
    : settings_(settings),
      rank_(network.ranks().rank()),
      most_hits_(std::min(kMostHitsOfRank, kMostHits / static_cast<std::size_t>(network.ranks().size()))),
      most_channels_(kMostChannels / static_cast<std::size_t>(std::min(network.ranks().size(), kRanksPerInterval))),
      channel_(network.open_channel()),
      picture_(rank_ == 0 ? network.ranks().size() : 0) {
  settings_.interval = telemetry_interval(settings_.interval, static_cast<std::size_t>(network.ranks().size()));
}

EventSink& Telemetry::watch(std::uint32_t writer, EventSink& sink) {
  sinks_.push_back(std::make_unique<WatchedSink>(writer, sink, settings_, most_hits_, hits_));
  return *sinks_.back();
}

void Telemetry::do_work(Time now, std::uint64_t rounds) {
  if (now >= next_ && rounds != rounds_) {
    rounds_ = rounds;
    next_ = now + settings_.interval;
    send(false);
  }
  if (rank_ != 0 || now < next_look_) return;
  next_look_ = now + kReceiveEvery;
  receive(now);
}

void Telemetry::finish(Time now, IdlePolicy& idle) {
  const Activity activity(kWaitingForRanks);
  send(true);
  idle.reset();
  if (rank_ != 0) return;
  for (receive(now); !picture_.complete(); receive(now)) idle.wait();
}

void Telemetry::send(bool last) {
  RankRecord record;
  for (auto& sink : sinks_) sink->add_to(record);
  record.channels = hits_.take(last ? std::numeric_limits<std::size_t>::max() : most_channels_);
  if (add_) add_(record);
  record.head.resident_bytes = resident_bytes();
  record.counters[Metric::peak_rss_bytes] = peak_bytes();
  record.head.last = last ? 1 : 0;
  channel_->send(0, encode_telemetry(record, reported_));
  record.events.clear();
  record.channels.clear();
  reported_ = std::move(record);
}

void Telemetry::receive(Time now) {
  while (const auto rank = channel_->receive(buffer_)) picture_.take(*rank, buffer_, now);
}

}  // namespace eventloom
