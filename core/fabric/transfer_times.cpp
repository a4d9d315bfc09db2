#include "core/fabric/transfer_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eventloom {

namespace {

constexpr double kNearly = 1e-9;

/// Arrival time of each piece.
std::vector<double> ends_of(const std::vector<std::uint64_t>& lengths, const std::vector<Transfer>& transfers) {
  double all = 0;
  for (const auto length : lengths) all += static_cast<double>(length);
  double carried = 0;
  for (const auto& transfer : transfers) carried += static_cast<double>(transfer.bytes);
  std::vector<double> ends;
  double wanted = 0;
  double got = 0;
  auto next = transfers.begin();
  double end = 0;
  for (const auto length : lengths) {
    wanted += static_cast<double>(length) / all;
    while (next != transfers.end() && got < wanted - kNearly) {
      got += static_cast<double>(next->bytes) / carried;
      end = next++->end;
    }
    ends.push_back(end);
  }
  return ends;
}

}  // namespace

TimeSpread spread_of(std::vector<double> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto n = static_cast<double>(times.size());
  TimeSpread spread;
  spread.n = times.size();
  spread.mean = std::accumulate(times.begin(), times.end(), 0.0) / n;
  double squares = 0;
  for (const auto time : times) squares += (time - spread.mean) * (time - spread.mean);
  spread.deviation = std::sqrt(squares / n);
  spread.min = times.front();
  spread.p99 = times[static_cast<std::size_t>(std::ceil(0.99 * n)) - 1];
  spread.max = times.back();
  return spread;
}

TimeSpread transfer_times(const std::vector<Transfer>& transfers) {
  std::vector<double> times;
  times.reserve(transfers.size());
  for (const auto& transfer : transfers) times.push_back(transfer.end - transfer.begin);
  return spread_of(std::move(times));
}

/// Indexed by slice: arrival times of the pieces that crossed the network.
BuiltPieces::Times BuiltPieces::times_at(std::uint32_t builder,
                                         const std::vector<std::vector<Transfer>>& of_pairs) const {
  Times times;
  for (std::uint32_t source = 0; source < ranks_; ++source) {
    const auto pair = source * ranks_ + builder;
    if (of_pairs[pair].empty()) continue;
    const auto ends = ends_of(lengths_[pair], of_pairs[pair]);
    times.resize(std::max(times.size(), ends.size()));
    for (std::size_t slice = 0; slice < ends.size(); ++slice) times[slice].push_back(ends[slice]);
  }
  return times;
}

SliceArrivals BuiltPieces::arrivals(const std::vector<Transfer>& transfers) const {
  std::vector<std::vector<Transfer>> of_pairs(lengths_.size());
  for (const auto& transfer : transfers) {
    of_pairs[static_cast<std::uint32_t>(transfer.from) * ranks_ + static_cast<std::uint32_t>(transfer.to)].push_back(
        transfer);
  }
  double squares = 0;
  std::vector<double> spans;
  for (std::uint32_t builder = 0; builder < ranks_; ++builder) {
    for (const auto& pieces : times_at(builder, of_pairs)) {
      const auto spread = spread_of(pieces);
      squares += spread.deviation * spread.deviation;
      spans.push_back(spread.max - spread.min);
    }
  }
  SliceArrivals arrivals;
  if (!spans.empty()) arrivals.deviation = std::sqrt(squares / static_cast<double>(spans.size()));
  arrivals.span = spread_of(std::move(spans));
  return arrivals;
}

}  // namespace eventloom
