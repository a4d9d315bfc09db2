#include "core/engine/source_report.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace eventloom {

namespace {

/// Upper limit of the estimate for a source.
constexpr double kMostSlices = 1e18;

/// A recording knows its total number of hits from the start.
std::uint64_t hits_so_far(const SourceStream& stream) {
  const auto& source = stream.data().source();
  return stream.ended() && stream.data().is_whole() ? source.hits_read() : source.hits_given();
}

/// While the end of the data is unknown, extrapolates from the slices begun and the share of the input read. At least
/// one slice is still to come.
std::optional<std::uint64_t> expected_end(const SourceStream& stream) {
  const auto& data = stream.data();
  if (data.data_end()) return data.data_end()->value;
  const auto share = stream.live() ? std::nullopt : data.source().share_read();
  if (!share) return std::nullopt;
  const auto begin = data.first_slice().value;
  const auto begun = std::max(stream.begun_end().value, begin);
  const double slices = *share > 0 ? static_cast<double>(begun - begin) / *share : 0;
  return std::max(begun + 1, begin + static_cast<std::uint64_t>(std::min(slices, kMostSlices)));
}

}  // namespace

bool SourceReport::cut_off() const {
  return std::ranges::any_of(streams_, [&](const SourceStream& s) {
    return !s.data().is_whole() || (s.live() && shared_.live.cut_short(*s.live()));
  });
}

bool SourceReport::cut_off_recorded() const {
  return std::ranges::any_of(streams_, [](const SourceStream& s) { return !s.live() && !s.data().is_whole(); });
}

Counters SourceReport::counters() const {
  Counters all;
  for (const auto& outbox : shared_.messages.outboxes().all()) all.add(outbox.counters());
  for (const auto& stream : streams_) {
    const auto& source = stream.data().source();
    all[Metric::late_transfers] += stream.slots().late_transfers();
    all[Metric::hits_read] += source.hits_read();
    all[Metric::anomalies] += source.anomalies();
    add_other_markers(all, other_markers_of_source(source.counts().counters));
  }
  return all;
}

void SourceReport::add_counts(std::map<std::uint32_t, SourceCounts>& counts) const {
  for (const auto& stream : streams_) counts[stream.data().id().value].add(stream.data().source().counts());
}

void SourceReport::add_remarks(std::map<std::uint32_t, std::vector<std::string>>& remarks) const {
  for (const auto& stream : streams_) {
    auto of_source = stream.data().source().remarks();
    if (!of_source.empty()) remarks[stream.data().id().value] = std::move(of_source);
  }
}

void SourceReport::add_ends(std::map<std::uint32_t, Epoch>& ends) const {
  for (const auto& stream : streams_) {
    if (const auto end = stream.data().source().end_epoch()) ends[stream.data().id().value] = *end;
  }
}

SourceState SourceReport::state_of(const SourceStream& stream) const {
  if (stream.ended()) return SourceState::ended;
  return stream.live() ? shared_.live.state(*stream.live()) : SourceState::recorded;
}

void SourceReport::add_to(RankRecord& record) const {
  auto now = counters();
  now[Metric::hits_read] = 0;
  std::map<std::uint32_t, SourceCounts> counts;
  add_counts(counts);
  for (const auto& [source, of_source] : counts) record.of_sources[source].add(of_source.counters);
  for (const auto& stream : streams_) {
    const std::uint32_t id = stream.data().id().value;
    const auto hits = hits_so_far(stream);
    record.sources[id] = {id, state_of(stream), hits, stream.bytes()};
    now[Metric::hits_read] += hits;
  }
  record.counters.add(now);
  const auto& outboxes = shared_.messages.outboxes();
  for (std::uint32_t b = 0; b < outboxes.size(); ++b) {
    const auto& outbox = outboxes[b];
    record.links[b] = {b, outbox.cells_in_use(), outbox.ring_depth(), 0, outbox.counters()[Metric::message_bytes]};
  }
  record.head.slices_sent = slices_sent();
  record.head.slices_expected = slices_expected().value_or(0);
}

/// Slices, counted from the first, that all sources on this rank have sent.
std::uint64_t SourceReport::slices_sent() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& stream : streams_) {
    if (!stream.ended()) least = std::min(least, stream.lowest().value - shared_.settings.first_slice.value);
  }
  return least == std::numeric_limits<std::uint64_t>::max() ? slices_expected().value_or(0) : least;
}

/// How many slices there will be; std::nullopt without an estimate.
std::optional<std::uint64_t> SourceReport::slices_expected() const {
  std::uint64_t most = 0;
  for (const auto& stream : streams_) {
    const auto end = expected_end(stream);
    if (!end) return std::nullopt;
    most = std::max(most, *end);
  }
  return most - std::min(most, shared_.settings.first_slice.value);
}

}  // namespace eventloom
