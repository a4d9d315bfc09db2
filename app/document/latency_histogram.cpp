#include "app/document/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

constexpr unsigned kBins = 2800;  // each bin is exp(ln(1e12) / 2800) = 1.0099 times as wide as the previous one
constexpr double kLowestNs = 1;
constexpr double kHighestNs = 1e12;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

LatencyHistogram::LatencyHistogram() : counts_(std::tuple(Axis(kBins, kLowestNs, kHighestNs))) {}

void LatencyHistogram::add(double ns) {
  // The axis would take the logarithm of a negative number, which is NaN, as overflow.
  counts_(std::max(ns, 0.0));
  ++count_;
  sum_ += ns;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  counts_ += other.counts_;
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::min() const { return count_ == 0 ? kNothing : min_; }
double LatencyHistogram::max() const { return count_ == 0 ? kNothing : max_; }
double LatencyHistogram::mean() const { return count_ == 0 ? kNothing : sum_ / static_cast<double>(count_); }

double LatencyHistogram::percentile(double p) const {
  if (count_ == 0) return kNothing;
  // Multiply first: p / 100 is rarely exact, and 99.9 % of 1000 must be 999, not the next rank.
  const double rank = std::max(std::ceil(p * static_cast<double>(count_) / 100), 1.0);
  auto below = static_cast<double>(counts_.at(-1));
  if (rank <= below) return min_;
  const auto& axis = counts_.axis();
  for (int bin = 0; bin < axis.size(); ++bin) {
    below += static_cast<double>(counts_.at(bin));
    if (rank <= below) return std::clamp(axis.bin(bin).upper(), min_, max_);
  }
  return max_;
}

std::vector<LatencyHistogram::Bin> LatencyHistogram::bins() const {
  std::vector<Bin> found;
  const auto& axis = counts_.axis();
  for (int bin = -1; bin <= axis.size(); ++bin) {
    const auto n = static_cast<std::uint64_t>(counts_.at(bin));
    if (n == 0) continue;
    // The outermost bins are open.
    const double low = bin < 0 ? min_ : axis.bin(bin).lower();
    const double high = bin >= axis.size() ? max_ : axis.bin(bin).upper();
    found.push_back({std::clamp(low, min_, max_), std::clamp(high, min_, max_), n});
  }
  return found;
}

LatencyHistogram LatencyHistogram::from_bins(std::span<const Bin> bins) {
  LatencyHistogram histogram;
  for (const auto& bin : bins) {
    const double middle = (bin.low + bin.high) / 2;
    histogram.counts_.at(histogram.counts_.axis().index(std::max(middle, 0.0))) += bin.count;
    histogram.count_ += bin.count;
    histogram.sum_ += middle * static_cast<double>(bin.count);
    histogram.min_ = std::min(histogram.min_, bin.low);
    histogram.max_ = std::max(histogram.max_, bin.high);
  }
  return histogram;
}

Json LatencyHistogram::packed() const {
  auto bins = Json::array();
  for (int bin = -1; bin <= counts_.axis().size(); ++bin) {
    if (counts_.at(bin) != 0) bins.push_back({bin, counts_.at(bin)});
  }
  if (count_ == 0) return {{"bins", bins}};
  return {{"bins", bins}, {"sum", sum_}, {"min", min_}, {"max", max_}};
}

LatencyHistogram LatencyHistogram::unpack(const Json& packed) {
  LatencyHistogram histogram;
  for (const auto& entry : packed.at("bins")) {
    const auto n = entry.at(1).get<std::uint64_t>();
    histogram.counts_.at(entry.at(0).get<int>()) = n;
    histogram.count_ += n;
  }
  if (histogram.count_ == 0) return histogram;
  histogram.sum_ = packed.at("sum");
  histogram.min_ = packed.at("min");
  histogram.max_ = packed.at("max");
  return histogram;
}

Json LatencyHistogram::to_json() const {
  const auto or_null = [](double ns) { return std::isnan(ns) ? Json() : Json(ns); };
  return {{"count", count_},
          {"min_ns", or_null(min())},
          {"mean_ns", or_null(mean())},
          {"p10_ns", or_null(percentile(10))},
          {"p50_ns", or_null(percentile(50))},
          {"p90_ns", or_null(percentile(90))},
          {"p99_ns", or_null(percentile(99))},
          {"p999_ns", or_null(percentile(99.9))},
          {"p9999_ns", or_null(percentile(99.99))},
          {"max_ns", or_null(max())}};
}

}  // namespace eventloom
