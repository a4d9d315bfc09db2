#include "app/tools/align/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "app/tools/align/coincidence_peak.hpp"
#include "app/tools/align/pair_scores.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kStretches = 16;  ///< parts of a recording, for drifts
constexpr int kMostPasses = 5;
constexpr double kSecondsForDrift = 1;

[[noreturn]] void throw_none() {
  throw UserError(
      "too few coincident hits to align anything: use a longer --search, another --reference, or check that the "
      "sources were recorded at the same time");
}

/// First and last time of the recordings, ticks.
struct TimeSpan {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] std::size_t stretch_of(std::int64_t time) const {
    const double part = static_cast<double>(time - first) / (static_cast<double>(last - first) + 1);
    return static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * (kStretches - 1e-9));
  }
  /// Middle of a stretch, ticks from the middle of the recording.
  [[nodiscard]] double middle_of(std::size_t stretch) const {
    return (static_cast<double>(stretch) + 0.5 - kStretches / 2.0) * static_cast<double>(last - first) / kStretches;
  }
};

/// The work of one alignment: the offsets found so far, refined by each pass over the hits.
class Aligner {
 public:
  Aligner(HitPasses& passes, const Detector& detector, const AlignSettings& settings)
      : passes_(passes), given_(detector), settings_(settings), units_(settings.by, detector, passes.names()) {}

  Alignment align();

 private:
  struct Found {
    std::vector<PairDifference> differences;
    std::vector<CoincidencePeak> peaks;  ///< indexed like the differences
    double width = 0;                    ///< median of the peaks, ticks
    std::int64_t bin_width = 1;
  };

  void survey();
  void choose_reference(const Found& found);
  [[nodiscard]] Detector corrected() const;
  void read_units(const std::function<void(std::span<const UnitHit>)>& take);
  PairHistograms count(std::int64_t reach);
  [[nodiscard]] Found find_peaks(const PairHistograms& histograms) const;
  [[nodiscard]] std::vector<double> errors(const Found& found, std::span<const std::optional<Solved>> delays);
  Found measure(std::vector<std::optional<Solved>>& delays);
  /// Subtracts delays from the times that are added, in whole ticks.
  void apply(const std::vector<std::optional<Solved>>& delays);
  [[nodiscard]] std::vector<std::optional<Solved>> drifts(const PairHistograms& histograms, double width) const;
  void add_drifts(Alignment& result, std::span<const std::optional<Solved>> delays);
  [[nodiscard]] DifferenceSpectrum spectrum();

  HitPasses& passes_;
  const Detector& given_;
  const AlignSettings& settings_;
  AlignUnits units_;
  TimeSpan span_;
  std::size_t reference_ = 0;
  std::vector<std::int64_t> applied_;  ///< ticks added to the units' times, indexed by unit
};

void Aligner::survey() {
  passes_.read(given_, [&](std::span<const AlignHit> hits) {
    for (const auto& hit : hits) units_.see(hit.source, hit.channel);
    if (hits.empty()) return;
    span_.first = std::min(span_.first, hits.front().time);
    span_.last = std::max(span_.last, hits.back().time);
  });
  units_.number_units();
  applied_.assign(units_.size(), 0);
  if (units_.size() > kMostUnits) {
    throw UserError(std::to_string(units_.size()) + " units have hits, and at most " + std::to_string(kMostUnits) +
                    " can be aligned at a time: use --by source or --by group, or mask channels");
  }
  if (units_.size() < 2) throw UserError("fewer than two units have hits: there is nothing to align; see --by");
}

/// The unit that the user names, or the first with coincidences.
void Aligner::choose_reference(const Found& found) {
  if (!settings_.reference.empty()) {
    const auto named = units_.find(settings_.reference);
    if (!named) throw UserError("--reference '" + settings_.reference + "' has no hits, or is not aligned; see --by");
    reference_ = *named;
    return;
  }
  std::vector<double> signals(units_.size());
  for (std::size_t i = 0; i < found.differences.size(); ++i) {
    signals[found.differences[i].first] += found.peaks[i].signal;
    signals[found.differences[i].second] += found.peaks[i].signal;
  }
  const auto first = std::ranges::find_if(signals, [](double signal) { return signal > 0; });
  if (first == signals.end()) throw_none();
  reference_ = static_cast<std::size_t>(first - signals.begin());
}

Detector Aligner::corrected() const {
  Detector detector = given_;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (applied_[unit] == 0) continue;
    for (const auto& [source, channel] : units_.channels(unit)) {
      detector.change({source, channel, channel}, [&](ChannelInfo& info) { info.offset += applied_[unit]; });
    }
  }
  return detector;
}

/// Passes the hits of units, in corrected times, as HitPasses::read() does.
void Aligner::read_units(const std::function<void(std::span<const UnitHit>)>& take) {
  std::vector<UnitHit> of_units;
  passes_.read(corrected(), [&](std::span<const AlignHit> hits) {
    of_units.clear();
    for (const auto& hit : hits) {
      if (const auto unit = units_.unit_of(hit.source, hit.channel)) of_units.push_back({hit.time, *unit});
    }
    if (!of_units.empty()) take(of_units);
  });
}

PairHistograms Aligner::count(std::int64_t reach) {
  PairHistograms histograms(units_.size(), reach, kStretches);
  read_units([&](auto hits) { histograms.add(hits, span_.stretch_of(hits.front().time)); });
  return histograms;
}

Aligner::Found Aligner::find_peaks(const PairHistograms& histograms) const {
  Found found;
  found.bin_width = histograms.bins().width;
  std::vector<double> widths;
  for (std::size_t pair = 0; pair < histograms.pairs(); ++pair) {
    const auto peak = find_peak(histograms.counts(pair), histograms.bins());
    if (!peak) continue;
    const auto [first, second] = histograms.units(pair);
    found.differences.push_back({first, second, peak->mean, peak->error});
    found.peaks.push_back(*peak);
    widths.push_back(peak->width);
  }
  if (widths.empty()) return found;
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::ranges::nth_element(widths, middle);
  found.width = *middle;
  return found;
}

/// Standard errors of the offsets, indexed by unit. Least squares treats pairs as independent, yet a hit is in as many
/// pairs as its event has other hits, and a chance partner in as many as it has neighbours.
std::vector<double> Aligner::errors(const Found& found, std::span<const std::optional<Solved>> delays) {
  PairScores scores(units_.size(), found.differences, found.peaks, found.bin_width);
  read_units([&](auto hits) { scores.add(hits); });
  return errors_of(reference_, found.differences, delays, scores.covariance());
}

void Aligner::apply(const std::vector<std::optional<Solved>>& delays) {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (delays[unit]) applied_[unit] -= std::llround(delays[unit]->value);
  }
}

/// The slope of each pair's mean difference over the stretches of the recording, weighted by their coincidences.
std::vector<std::optional<Solved>> Aligner::drifts(const PairHistograms& histograms, double width) const {
  std::vector<PairDifference> slopes;
  for (std::size_t pair = 0; pair < histograms.pairs(); ++pair) {
    const auto sums = histograms.sums(pair);
    double n = 0;
    double time = 0;
    double ticks = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      n += static_cast<double>(sums[i].n);
      time += static_cast<double>(sums[i].n) * span_.middle_of(i);
      ticks += static_cast<double>(sums[i].ticks);
    }
    if (n < kLeastSignal) continue;
    double square = 0;
    double product = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double off = span_.middle_of(i) - time / n;
      square += static_cast<double>(sums[i].n) * off * off;
      product += off * (static_cast<double>(sums[i].ticks) - static_cast<double>(sums[i].n) * ticks / n);
    }
    if (square <= 0) continue;
    const auto [first, second] = histograms.units(pair);
    slopes.push_back({first, second, product / square, std::max(width, 0.3) / std::sqrt(square)});
  }
  return solve_pairs(units_.size(), reference_, slopes, 0);
}

DifferenceSpectrum Aligner::spectrum() {
  const auto histograms = count(settings_.window);
  return {histograms.bins(), histograms.total()};
}

/// Measures the delays of the units, in passes over ever smaller time differences, until the bins resolve the peaks.
/// Delays measured before the last pass are applied; those of the last are returned.
Aligner::Found Aligner::measure(std::vector<std::optional<Solved>>& delays) {
  std::int64_t reach = std::max(settings_.search, settings_.window);
  for (int pass = 1;; ++pass) {
    const auto histograms = count(reach);
    auto found = find_peaks(histograms);
    if (pass == 1) choose_reference(found);
    const auto step = static_cast<double>(histograms.bins().width);
    delays = solve_pairs(units_.size(), reference_, found.differences, step);
    const bool resolved = pass > 1 && step <= std::max(1.0, found.width / 3);
    if (resolved || pass == kMostPasses) return found;
    apply(delays);
    reach = std::max<std::int64_t>(std::llround(16 * found.width + 8 * step), 8);
  }
}

/// Drifts per second of the times that are to be added, if the recording is long enough. Their errors are larger than
/// those of least squares by the same factor as the errors of the offsets.
void Aligner::add_drifts(Alignment& result, std::span<const std::optional<Solved>> delays) {
  const auto ticks_per_second = 1e12 / static_cast<double>(passes_.tick_ps());
  if (static_cast<double>(span_.last - span_.first) < kSecondsForDrift * ticks_per_second) return;
  const auto slopes = drifts(count(std::llround(4 * result.width) + 1), result.width);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    auto& of = result.found[unit];
    if (!of.offset || !slopes[unit]) continue;
    const auto& delay = delays[unit];
    const double scale = delay->error > 0 ? of.offset->error / delay->error : 1;
    of.drift = {-slopes[unit]->value * ticks_per_second, slopes[unit]->error * scale * ticks_per_second};
  }
}

Alignment Aligner::align() {
  survey();
  auto before = spectrum();
  std::vector<std::optional<Solved>> delays;
  const auto found = measure(delays);
  if (std::ranges::count_if(delays, [](const auto& delay) { return delay.has_value(); }) < 2) throw_none();
  const auto offset_errors = errors(found, delays);
  Alignment result{units_, reference_, std::vector<UnitAlignment>(units_.size()), found.width, std::move(before), {}};
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (!delays[unit]) continue;
    result.found[unit].offset = {static_cast<double>(applied_[unit]) - delays[unit]->value, offset_errors[unit]};
  }
  for (std::size_t i = 0; i < found.differences.size(); ++i) {
    const auto& pair = found.differences[i];
    if (!pair.used) continue;
    for (const auto unit : {pair.first, pair.second}) result.found[unit].coincidences += found.peaks[i].signal;
  }
  apply(delays);
  add_drifts(result, delays);
  result.after = spectrum();
  result.damaged = passes_.damaged();
  return result;
}

}  // namespace

Alignment align(HitPasses& passes, const Detector& detector, const AlignSettings& settings) {
  return Aligner(passes, detector, settings).align();
}

}  // namespace eventloom
