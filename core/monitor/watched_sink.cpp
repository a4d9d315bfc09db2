#include "core/monitor/watched_sink.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

/// Maximum events kept of one slice.
constexpr std::size_t kEventsKept = 4;
/// Share of a thread's time, for histograms and channels.
constexpr double kShare = 0.005;
constexpr Pace::Duration kSavedUp{0.1};

}  // namespace

WatchedSink::WatchedSink(std::uint32_t writer, EventSink& sink, const TelemetrySettings& settings,
                         std::size_t most_hits, ChannelCounts& hits)
    : writer_(writer), sink_(sink), settings_(settings), most_hits_(most_hits), hits_(hits), pace_(kShare, kSavedUp) {}

void WatchedSink::write(const BuiltSlice& slice) {
  sink_.write(slice);
  totals_.add(slice);
  if (!settings_.pictures) return;
  keep_events(slice);
  picture(slice);
}

void WatchedSink::picture(const BuiltSlice& slice) {
  const auto now = time_of(CLOCK_MONOTONIC);
  if (now < next_) return last_time_.reset();
  const auto before = time_of(CLOCK_THREAD_CPUTIME_ID);
  fill(slice);
  used_ += time_of(CLOCK_THREAD_CPUTIME_ID) - before;
  next_ = now + pace_.rest_after(now, used_);
}

void WatchedSink::fill(const BuiltSlice& slice) {
  auto& multiplicity = (*this)[HistogramKind::multiplicity];
  auto& duration = (*this)[HistogramKind::duration];
  for (const auto n : slice.events.n_hits) multiplicity.add(n);
  for (const auto ticks : slice.events.duration) duration.add(ticks.value);
  hits_.add(slice.hits.source, slice.hits.channel);
  add_intervals(slice);
  if (settings_.started_ns != 0) add_latencies(slice);
}

/// Adds intervals between slices only if no other writer may have events in between.
void WatchedSink::add_intervals(const BuiltSlice& slice) {
  const bool follows = settings_.writers == 1 || (last_slice_ && last_slice_->value + 1 == slice.slice().value);
  if (!follows) last_time_.reset();
  last_slice_ = slice.slice();
  const auto& times = slice.events.time;
  if (times.empty()) return;
  auto& interval = (*this)[HistogramKind::interval];
  if (last_time_) interval.add((times.front() - *last_time_).value);
  for (std::size_t i = 1; i < times.size(); ++i) interval.add((times[i] - times[i - 1]).value);
  last_time_ = times.back();
}

void WatchedSink::add_latencies(const BuiltSlice& slice) {
  using std::chrono::nanoseconds;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<nanoseconds>(unix_time).count() - settings_.started_ns;
  const double tick_ns = static_cast<double>(settings_.tick_ps) / 1000;
  for (const auto time : slice.events.time) {
    const double ns = static_cast<double>(now_ns) - static_cast<double>(time) * tick_ns;
    (*this)[HistogramKind::latency].add(ns > 0 ? static_cast<std::uint64_t>(ns) : 0);
  }
}

/// Keeps the last events of the slice, replacing those of earlier ones. The last slice of a run is not known in
/// advance, so this is done for each, at the cost of copying these events.
void WatchedSink::keep_events(const BuiltSlice& slice) {
  if (slice.events.size() == 0) return;
  events_.resize(std::min(kEventsKept, slice.events.size()));
  const auto& words = slice.hits.payload_words;
  std::size_t room = most_hits_;
  std::size_t first_hit = slice.hits.size();
  std::size_t first_word = slice.hits.payload.size();
  std::size_t kept = 0;
  for (; kept < events_.size() && room > 0; ++kept) {
    const auto event = slice.events.size() - 1 - kept;
    const std::size_t n_hits = slice.events.n_hits[event];
    const auto reported = std::min(n_hits, room);
    room -= reported;
    first_hit -= n_hits;
    put_event(slice, event, first_hit, reported, events_[kept]);
    if (words.empty()) continue;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first_hit);
    first_word -= std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(n_hits), std::size_t{0});
    put_payload(slice, first_hit, first_word, events_[kept]);
  }
  events_.resize(kept);
}

void WatchedSink::put_event(const BuiltSlice& slice, std::size_t event, std::size_t first_hit, std::size_t hits_sent,
                            LatestEvent& latest) {
  const auto& events = slice.events;
  const auto time = events.time[event];
  latest.event = {time.value,
                  events.duration[event].value,
                  slice.slice().value,
                  events.flags[event],
                  events.n_hits[event],
                  static_cast<std::uint32_t>(hits_sent),
                  0};
  latest.hits.clear();
  for (auto h = first_hit; h < first_hit + hits_sent; ++h) {
    latest.hits.push_back({(slice.hits.time[h] - time).value, slice.hits.channel[h], slice.hits.source[h], 0, {}});
  }
}

/// Adds the payload to the hits that are reported; the arguments are the positions of the first of them in the slice.
void WatchedSink::put_payload(const BuiltSlice& slice, std::size_t first_hit, std::size_t first_word,
                              LatestEvent& latest) {
  latest.event.payload = 1;
  auto at = first_word;
  for (std::size_t i = 0; i < latest.hits.size(); ++i) {
    auto& hit = latest.hits[i];
    const auto words = slice.hits.payload_words[first_hit + i];
    hit.payload_words = static_cast<std::uint16_t>(std::min<std::size_t>(words, hit.payload.size()));
    for (std::size_t word = 0; word < hit.payload_words; ++word) hit.payload[word] = slice.hits.payload[at + word];
    at += words;
  }
}

void WatchedSink::add_to(RankRecord& record) {
  record.counters.add(totals_.counters);
  for (const auto& [source, hits] : totals_.source_losses) {
    for (std::size_t i = 0; i < kDropCauses; ++i) {
      record.of_sources[source][source_dropped_hits(static_cast<DropCause>(i))] += hits[i];
    }
  }
  // The last bit of the masks stands for several sources.
  for (std::uint32_t s = 0; s + 1 < totals_.events_lacking.size(); ++s) {
    if (totals_.events_lacking[s] != 0) record.of_sources[s][Metric::events_lacking] += totals_.events_lacking[s];
  }
  for (std::size_t h = 0; h < kHistograms; ++h) record.histograms[h].add(histograms_[h]);
  record.writers[writer_] = {writer_,
                             0,
                             totals_[Metric::slices],
                             totals_[Metric::events],
                             totals_[Metric::hits_rejected],
                             totals_[Metric::events_rejected]};
  for (auto& event : std::exchange(events_, {})) record.events.push_back(std::move(event));
}

}  // namespace eventloom
