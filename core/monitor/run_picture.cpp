#include "core/monitor/run_picture.hpp"

#include <algorithm>

#include "core/monitor/telemetry_message.hpp"

namespace eventloom {

void RunPicture::take(int rank, std::span<const std::byte> message, Time now) {
  const auto at = static_cast<std::size_t>(rank);
  apply_telemetry(message, records_[at]);
  heard_[at] = now;
  bytes_received_ += message.size();
  for (auto& event : records_[at].events) events_.push_back(std::move(event));
  records_[at].events.clear();
  for (const auto& row : records_[at].channels) channels_.add(row);
  records_[at].channels.clear();
  std::ranges::stable_sort(events_, {}, [](const LatestEvent& latest) { return latest.event.time; });
  while (events_.size() > kMostEvents) events_.pop_front();
}

bool RunPicture::complete() const {
  return std::ranges::all_of(records_, [](const RankRecord& record) { return record.head.last != 0; });
}

Counters RunPicture::totals() const {
  Counters all;
  for (const auto& record : records_) all.add(record.counters);
  return all;
}

std::map<std::uint32_t, Counters> RunPicture::of_sources() const {
  std::map<std::uint32_t, Counters> all;
  for (const auto& record : records_) {
    for (const auto& [source, counters] : record.of_sources) all[source].add(counters);
  }
  return all;
}

LogHistogram RunPicture::histogram(HistogramKind kind) const {
  LogHistogram all;
  for (const auto& record : records_) all.add(record.histograms[static_cast<std::size_t>(kind)]);
  return all;
}

std::optional<double> RunPicture::share_sent() const {
  std::uint64_t sent = ~std::uint64_t{0};
  std::uint64_t expected = 0;
  for (const auto& record : records_) {
    if (record.sources.empty()) continue;
    if (record.head.slices_expected == 0) return std::nullopt;
    // A rank whose sources end earlier does not hold back the estimate.
    if (record.head.slices_sent < record.head.slices_expected) sent = std::min(sent, record.head.slices_sent);
    expected = std::max(expected, record.head.slices_expected);
  }
  if (expected == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(sent) / static_cast<double>(expected));
}

double RunPicture::ring_fill() const {
  std::uint64_t cells = 0;
  std::uint64_t depth = 0;
  for (const auto& record : records_) {
    for (const auto& [builder, link] : record.links) {
      cells += link.cells;
      depth += link.depth;
    }
  }
  return depth == 0 ? 0 : static_cast<double>(cells) / static_cast<double>(depth);
}

}  // namespace eventloom
