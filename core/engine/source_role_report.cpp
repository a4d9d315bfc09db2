#include <algorithm>
#include <limits>

#include "core/engine/source_role.hpp"

namespace eventloom {

namespace {

/// Upper limit of the estimate for a source.
constexpr double kMostSlices = 1e18;

}  // namespace

Counters SourceRole::counters() const {
  Counters all;
  for (const auto& outbox : outboxes_.all()) all.add(outbox.counters());
  all[Metric::late_transfers] = late_transfers_;
  for (const auto& stream : streams_) {
    all[Metric::hits_read] += stream.source.stream->hits_read();
    all[Metric::anomalies] += stream.source.stream->anomalies();
    add_other_markers(all, other_markers_of_source(stream.source.stream->counts().counters));
  }
  return all;
}

void SourceRole::add_counts(std::map<std::uint32_t, SourceCounts>& counts) const {
  for (const auto& stream : streams_) counts[stream.source.id.value].add(stream.source.stream->counts());
}

void SourceRole::add_remarks(std::map<std::uint32_t, std::vector<std::string>>& remarks) const {
  for (const auto& stream : streams_) {
    auto of_source = stream.source.stream->remarks();
    if (!of_source.empty()) remarks[stream.source.id.value] = std::move(of_source);
  }
}

SourceState SourceRole::state_of(const Stream& stream) const {
  if (stream.ended) return SourceState::ended;
  return stream.live ? live_.state(*stream.live) : SourceState::recorded;
}

/// A recording knows its total number of hits from the start.
std::uint64_t SourceRole::hits_so_far(const Stream& stream) const {
  const auto& source = *stream.source.stream;
  const bool whole = stream.ended && told_end(stream) == stream.data_end;
  return whole ? source.hits_read() : source.hits_given();
}

void SourceRole::add_to(RankRecord& record) const {
  auto now = counters();
  now[Metric::hits_read] = 0;
  std::map<std::uint32_t, SourceCounts> counts;
  add_counts(counts);
  for (const auto& [source, of_source] : counts) record.of_sources[source].add(of_source.counters);
  for (const auto& stream : streams_) {
    const std::uint32_t id = stream.source.id.value;
    const auto hits = hits_so_far(stream);
    record.sources[id] = {id, state_of(stream), hits, stream.bytes};
    now[Metric::hits_read] += hits;
  }
  record.counters.add(now);
  for (std::uint32_t b = 0; b < outboxes_.size(); ++b) {
    const auto& outbox = outboxes_[b];
    record.links[b] = {b, outbox.cells_in_use(), outbox.ring_depth(), 0, outbox.counters()[Metric::message_bytes]};
  }
  record.head.slices_sent = slices_sent();
  record.head.slices_expected = slices_expected().value_or(0);
}

std::uint64_t SourceRole::slices_sent() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& stream : streams_) {
    if (!stream.ended) least = std::min(least, lowest(stream).value - settings_.first_slice.value);
  }
  return least == std::numeric_limits<std::uint64_t>::max() ? slices_expected().value_or(0) : least;
}

std::optional<std::uint64_t> SourceRole::slices_expected() const {
  std::uint64_t most = 0;
  for (const auto& stream : streams_) {
    const auto end = expected_end(stream);
    if (!end) return std::nullopt;
    most = std::max(most, *end);
  }
  return most - std::min(most, settings_.first_slice.value);
}

/// While the end of the data is unknown, extrapolates from the slices begun and the share of the input read. At least
/// one slice is still to come.
std::optional<std::uint64_t> SourceRole::expected_end(const Stream& stream) const {
  if (stream.data_end) return stream.data_end->value;
  const auto share = stream.live ? std::nullopt : stream.source.stream->share_read();
  if (!share) return std::nullopt;
  const auto begin = stream.begin.value;
  const auto begun = std::max(stream.begun_end.value, begin);
  const double slices = *share > 0 ? static_cast<double>(begun - begin) / *share : 0;
  return std::max(begun + 1, begin + static_cast<std::uint64_t>(std::min(slices, kMostSlices)));
}

}  // namespace eventloom
