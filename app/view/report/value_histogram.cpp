#include "app/view/report/value_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/monitor/log_histogram.hpp"
#include "core/monitor/octave_bins.hpp"

namespace eventloom {

namespace {

using FineBins = OctaveBins<8, 7>;

constexpr std::uint64_t kWideSpan = 50;

/// Returns a power of two, so that its multiples are also edges of fine bins.
std::uint64_t even_width(std::uint64_t least, std::uint64_t greatest, std::size_t most) {
  std::uint64_t width = 1;
  while (greatest / width - least / width >= most) width *= 2;
  return std::max(width, FineBins::width_of(FineBins::bin_of(greatest)));
}

std::vector<std::uint64_t> even_edges(std::uint64_t least, std::uint64_t greatest, std::size_t most) {
  const auto width = even_width(least, greatest, most);
  std::vector<std::uint64_t> edges = {least / width * width};
  while (edges.back() <= greatest) {
    const auto next = edges.back() + width;
    edges.push_back(next < edges.back() ? std::numeric_limits<std::uint64_t>::max() : next);
    if (edges.back() == std::numeric_limits<std::uint64_t>::max()) break;
  }
  return edges;
}

/// Edges of the fine bins that contain the powers of the `per_octave`-th root of two; 0 and 1 also begin bins.
std::vector<std::uint64_t> wide_edges(std::uint64_t least, std::uint64_t greatest, unsigned per_octave) {
  std::vector<std::uint64_t> edges = {0};
  for (unsigned i = 0; i < 64 * per_octave && edges.back() <= greatest; ++i) {
    const auto power = static_cast<std::uint64_t>(std::round(std::exp2(static_cast<double>(i) / per_octave)));
    const auto edge = FineBins::begin_of(FineBins::bin_of(power));
    if (edge <= least) edges.pop_back();
    if (edges.empty() || edge > edges.back()) edges.push_back(edge);
  }
  if (edges.back() <= greatest) edges.push_back(std::numeric_limits<std::uint64_t>::max());
  return edges;
}

/// Returns as many bins per octave as fit into `most` bins.
unsigned bins_per_octave(std::uint64_t least, std::uint64_t greatest, std::size_t most) {
  const auto octaves = std::bit_width(greatest) - std::bit_width(std::max<std::uint64_t>(least, 1)) + 1;
  return static_cast<unsigned>(std::clamp<std::size_t>(most / static_cast<std::size_t>(octaves), 1, 8));
}

}  // namespace

ValueHistogram::ValueHistogram() : counts_(FineBins::kBins), sums_(FineBins::kBins) {}

void ValueHistogram::add(std::uint64_t value) {
  const auto bin = FineBins::bin_of(value);
  ++counts_[bin];
  sums_[bin] += static_cast<double>(value);
  ++count_;
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
}

double ValueHistogram::mean() const { return count_ == 0 ? 0 : tail(0).sum / static_cast<double>(count_); }

std::uint64_t ValueHistogram::quantile(double p) const {
  double left = p * static_cast<double>(count_);
  for (auto bin = FineBins::bin_of(least()); bin < FineBins::bin_of(greatest_); ++bin) {
    left -= static_cast<double>(counts_[bin]);
    if (left <= 0) return FineBins::begin_of(bin) + FineBins::width_of(bin) - 1;
  }
  return greatest_;
}

ValueHistogram::Tail ValueHistogram::tail(std::uint64_t from) const {
  auto bin = FineBins::bin_of(from);
  if (FineBins::begin_of(bin) < from && bin + 1 < FineBins::kBins) ++bin;
  Tail tail{FineBins::begin_of(bin), 0, 0};
  for (; bin <= FineBins::bin_of(greatest_); ++bin) {
    tail.count += counts_[bin];
    tail.sum += sums_[bin];
  }
  return tail;
}

Bins ValueHistogram::bins(std::size_t most) const {
  Bins bins;
  if (count_ == 0) return bins;
  bins.log = greatest_ / kWideSpan >= std::max<std::uint64_t>(least_, 1);
  bins.edges = bins.log ? wide_edges(least_, greatest_, bins_per_octave(least_, greatest_, most))
                        : even_edges(least_, greatest_, most);
  bins.counts.resize(bins.edges.size() - 1);
  std::size_t at = 0;
  for (std::size_t fine = FineBins::bin_of(least_); fine <= FineBins::bin_of(greatest_); ++fine) {
    while (at + 1 < bins.counts.size() && FineBins::begin_of(fine) >= bins.edges[at + 1]) ++at;
    bins.counts[at] += counts_[fine];
  }
  return bins;
}

Bins ValueHistogram::monitor_bins() const {
  Bins bins;
  if (count_ == 0) return bins;
  const auto first = LogHistogram::bin_of(least_);
  const auto last = LogHistogram::bin_of(greatest_);
  bins.log = last >= LogHistogram::kWhole;
  for (auto bin = first; bin <= last; ++bin) bins.edges.push_back(LogHistogram::begin_of(bin));
  bins.edges.push_back(bins.edges.back() + LogHistogram::width_of(last));
  bins.counts.resize(last - first + 1);
  for (auto fine = FineBins::bin_of(least_); fine <= FineBins::bin_of(greatest_); ++fine) {
    const auto value = std::max(FineBins::begin_of(fine), least_);
    bins.counts[LogHistogram::bin_of(value) - first] += counts_[fine];
  }
  return bins;
}

ExponentialFit fit_exponential(const ValueHistogram& times, std::uint64_t from, const Bins& bins) {
  const auto tail = times.tail(from);
  const auto n = static_cast<double>(tail.count);
  const double mean = tail.sum / n - static_cast<double>(tail.from);
  const double rate = std::log1p(1 / mean);
  ExponentialFit fit{tail.from, tail.count, rate, 2 * std::sinh(rate / 2) / std::sqrt(n), {}};
  const auto beyond = [&](std::uint64_t t) {
    return std::exp(-rate * static_cast<double>(std::max(t, tail.from) - tail.from));
  };
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    fit.curve.push_back(n * (beyond(bins.edges[i]) - beyond(bins.edges[i + 1])));
  }
  return fit;
}

}  // namespace eventloom
