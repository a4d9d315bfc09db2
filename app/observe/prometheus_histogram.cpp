#include "app/observe/prometheus_histogram.hpp"

#include <cstdint>
#include <vector>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr double kSeconds = 1e-9;

/// One bin per number of hits in ordinary events, then coarser bins.
std::vector<std::uint64_t> ends_of_multiplicities() {
  return {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256, 1024};
}

/// Returns every second power of 2, from 2^first to 2^last.
std::vector<std::uint64_t> powers(unsigned first, unsigned last) {
  std::vector<std::uint64_t> ends;
  for (unsigned power = first; power <= last; power += 2) ends.push_back(std::uint64_t{1} << power);
  return ends;
}

/// `ends`: one past the last number of each bin except the unbounded last one; bins of LogHistogram begin there.
/// Prometheus bounds are inclusive and the numbers are integers, so each bound is the last number of its bin.
void add_histogram(std::string& out, const char* name, const char* help, const LogHistogram& histogram,
                   const std::vector<std::uint64_t>& ends, double unit) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
  std::uint64_t below = 0;
  std::size_t bin = 0;
  for (const auto end : ends) {
    while (LogHistogram::begin_of(bin) < end) below += histogram[bin++];
    out += fmt::format("{}_bucket{{le=\"{:.12g}\"}} {}\n", name, static_cast<double>(end - 1) * unit, below);
  }
  const auto count = histogram.count();
  out += fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, count,
                     static_cast<double>(histogram.sum()) * unit);
}

}  // namespace

void add_event_histograms(std::string& out, const RunDescription& run, const RunSnapshot& snapshot) {
  const auto of = [&](HistogramKind kind) { return snapshot.now.histogram(kind); };
  const double tick = static_cast<double>(run.tick_ps) * 1e-3 * kSeconds;
  add_histogram(out, "eventloom_event_hits", "hits of an event", of(HistogramKind::multiplicity),
                ends_of_multiplicities(), 1);
  add_histogram(out, "eventloom_event_duration_seconds", "time from the first hit of an event to its last",
                of(HistogramKind::duration), powers(2, 34), tick);
  add_histogram(out, "eventloom_event_interval_seconds",
                "time from the first hit of an event to that of the next; left out where another writer has the slice "
                "of the next",
                of(HistogramKind::interval), powers(4, 40), tick);
  add_histogram(out, "eventloom_event_latency_seconds", "time from the first hit of an event until it is written",
                of(HistogramKind::latency), powers(12, 40), kSeconds);
}

}  // namespace eventloom
