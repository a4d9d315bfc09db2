#include "app/run/idle_watch.hpp"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "app/observe/progress.hpp"
#include "app/observe/snapshot_rates.hpp"
#include "core/monitor/telemetry_message.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// A front end that has sent nothing for this long is silent.
constexpr std::chrono::seconds kSourceSilence{2};

std::uint64_t bytes_of(const Counters& counters) { return counters[Metric::bytes] + counters[Metric::mbs_bytes]; }

/// "2 sources send, 3.2 k hits/s"
std::string what_comes(const RunSnapshot& snapshot) {
  std::size_t senders = 0;
  double hits_per_s = 0;
  const auto& ranks = snapshot.now.ranks();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const auto& [source, row] : ranks[r].sources) {
      if (row.state == SourceState::live) ++senders;
      hits_per_s += rate(snapshot, r, row.hits, row_before(snapshot, &RankRecord::sources, r, source).hits);
    }
  }
  return senders == 0 ? "no source sends"
                      : fmt::format("{} source{} send{}, {} hits/s", senders, senders == 1 ? "" : "s",
                                    senders == 1 ? "s" : "", scaled(hits_per_s));
}

}  // namespace

IdleWatch::IdleWatch(const FeedShelf& shelf, const Collective& ranks, std::string message)
    : shelf_(shelf), ranks_(ranks), message_(std::move(message)), picture_(ranks.size()), tracker_({}, {}) {
  for (const auto& feed : shelf_.feeds()) known_[feed.source] = {bytes_of(feed.counters), feed.counters, feed.hits, {}};
}

SourceState IdleWatch::state_of(const FeedShelf::Feed& feed, Time now) {
  auto& known = known_[feed.source];
  if (known.counters != feed.counters || known.hits != feed.hits) known.news = now;
  if (bytes_of(feed.counters) < known.bytes_before) known.bytes_before = 0;  // it has been opened again
  known.counters = feed.counters;
  known.hits = feed.hits;
  if (feed.ended) return SourceState::ended;
  return known.news != Time{} && now - known.news < kSourceSilence ? SourceState::live : SourceState::silent;
}

RankRecord IdleWatch::record(Time now) {
  RankRecord record;
  for (const auto& feed : shelf_.feeds()) {
    const auto state = state_of(feed, now);
    if (!feed.connected && !feed.ended && feed.hits == 0) continue;  // it is awaited
    const auto bytes = bytes_of(feed.counters) - known_[feed.source].bytes_before;
    record.sources[feed.source] = {feed.source, state, feed.hits, bytes};
    record.of_sources[feed.source] = feed.counters;
  }
  return record;
}

std::shared_ptr<RunSnapshot> IdleWatch::look(Time now) {
  auto mine = record(now);
  const auto messages = ranks_.all_gather(encode_telemetry(mine, reported_));
  reported_ = std::move(mine);
  if (ranks_.rank() != 0) return nullptr;
  for (std::size_t r = 0; r < messages.size(); ++r) picture_.take(static_cast<int>(r), messages[r], now);
  auto snapshot = tracker_.take(now, picture_, {.state = "idle", .message = message_});
  snapshot->condition.message += "; " + what_comes(*snapshot);
  snapshot->series = {};  // rates of building
  return snapshot;
}

}  // namespace eventloom
