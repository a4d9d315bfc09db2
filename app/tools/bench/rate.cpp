#include <sched.h>

#include <cmath>
#include <cstring>

#include "app/command/common_clock.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/document/json_message.hpp"
#include "app/document/latency_histogram.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/duplex.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace po = boost::program_options;
using Json = nlohmann::json;

namespace {

struct RateConfig {
  std::vector<std::uint64_t> hz;
  std::vector<std::uint64_t> values;
  double seconds = 0;
  std::string wait;
};

void add_rate_options(po::options_description& options) {
  add_option_rows(
      options, {{"hz", text_value("LIST", "100,1000,10000,100000"), "samples a second"},
                {"values", text_value("LIST", "1,4,16,64"), "values of 8 bytes in a sample"},
                {"seconds", po::value<double>()->value_name("S")->default_value(0.3, "0.3"), "length of a measurement"},
                {"idle", text_value("HOW", "poll"), "how both ends wait: poll, yield, sleep"}});
}

RateConfig rate_config(const po::variables_map& values) {
  RateConfig config;
  config.hz = counts_option(values, "hz", 1, 100'000'000);
  config.values = counts_option(values, "values", 1, 1'000'000);
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 3600.0);
  config.wait = values["idle"].as<std::string>();
  parsed("idle", [&] { return parse_wait(config.wait); });
  return config;
}

struct Sampled {
  std::uint64_t steps = 0;
  std::uint64_t missed = 0;
  LatencyHistogram latency;
};

/// Rank 0 samples and sends, rank 1 (or rank 0 itself) receives. A sample begins with its planned time, or 0 in the
/// last sample. Latency counts from the planned time, so that it includes a late start.
class Sampling {
 public:
  Sampling(const Communicator& communicator, CommonClock& clock, const RateConfig& config, std::uint64_t n_values)
      : communicator_(communicator),
        clock_(clock),
        receiver_(communicator.size() > 1 ? 1 : 0),
        duplex_(communicator, peer(), static_cast<std::uint32_t>(n_values * sizeof(std::int64_t)),
                parse_wait(config.wait)),
        sample_(n_values) {}

  Sampled run(std::uint64_t hz, double seconds) {
    Sampled result;
    meet(communicator_);
    if (communicator_.rank() == 0) {
      send_all(result, hz, seconds);
      while (receiver_ == 0 && !over_) take(result);
    } else if (communicator_.rank() == receiver_) {
      while (!over_) {
        take(result);
        if (!over_) duplex_.pause();
      }
    }
    duplex_.flush();
    meet(communicator_);
    return gather(result);
  }

 private:
  [[nodiscard]] std::optional<int> peer() const {
    const int rank = communicator_.rank();
    if (rank == 0) return receiver_;
    return rank == receiver_ ? std::optional(0) : std::nullopt;
  }

  void send_all(Sampled& result, std::uint64_t hz, double seconds) {
    const double period = 1e9 / static_cast<double>(hz);
    result.steps = std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(seconds * 1e9 / period)), 1);
    const std::int64_t start = clock_.now();
    // Computed from the start each time: a rounded period would accumulate an error.
    const auto planned = [&](std::uint64_t step) { return start + std::llround(static_cast<double>(step) * period); };
    for (std::uint64_t step = 1; step <= result.steps; ++step) {
      if (!send_between(result, planned(step), planned(step + 1))) ++result.missed;
    }
    sample_.front() = 0;
    while (!duplex_.try_send(std::as_bytes(std::span(sample_)))) wait(result);
  }

  /// Sends the sample of one step; returns false if the time of the next step came first.
  bool send_between(Sampled& result, std::int64_t planned, std::int64_t next) {
    std::int64_t now = clock_.now();
    for (; now < planned; now = clock_.now()) wait(result);
    sample_.front() = planned;
    for (; now < next; now = clock_.now()) {
      if (duplex_.try_send(std::as_bytes(std::span(sample_)))) return true;
      wait(result);
    }
    return false;
  }

  void wait(Sampled& result) {
    if (receiver_ == 0) take(result);
    duplex_.pause();
  }

  void take(Sampled& result) {
    while (const auto message = duplex_.poll()) {
      std::int64_t planned = 0;
      std::memcpy(&planned, message->data(), sizeof planned);
      over_ = planned == 0;
      if (!over_) result.latency.add(static_cast<double>(clock_.now() - planned));
      duplex_.release();
    }
  }

  [[nodiscard]] Sampled gather(const Sampled& mine) const {
    Sampled all = mine;
    const auto packed = all_gather_json(communicator_, mine.latency.packed());
    if (receiver_ != 0) all.latency.add(LatencyHistogram::unpack(packed[static_cast<std::size_t>(receiver_)]));
    return all;
  }

  const Communicator& communicator_;
  CommonClock& clock_;
  int receiver_;
  Duplex duplex_;
  std::vector<std::int64_t> sample_;
  bool over_ = false;
};

std::vector<BenchColumn> rate_columns() {
  return {{"hz", "rate", "Hz", 0},          {"values", "values", "8 bytes", 0},   {"steps", "steps", "", 0},
          {"missed", "missed", "", 0},      {"/shown_us/p50", "median", "us", 2}, {"/shown_us/p99", "p99", "us", 2},
          {"/shown_us/max", "max", "us", 1}};
}

/// Sends `hz` samples of `n_values` per second. Returns the sums over the repeats and the percentiles of all samples.
Json measure_point(const RateConfig& config, const BenchRun& run, CommonClock& clock, std::uint64_t hz,
                   std::uint64_t n_values) {
  Sampled all;
  for (int i = 0; i < run.repeat(); ++i) {
    clock.refresh();
    const auto one = Sampling(run.communicator(), clock, config, n_values).run(hz, config.seconds);
    all.steps += one.steps;
    all.missed += one.missed;
    all.latency.add(one.latency);
  }
  return {{"hz", hz},
          {"values", n_values},
          {"message_bytes", n_values * sizeof(std::int64_t)},
          {"idle", config.wait},
          {"steps", all.steps},
          {"missed", all.missed},
          {"latency", all.latency.to_json()},
          {"shown_us",
           {{"p50", all.latency.percentile(50) / 1000},
            {"p99", all.latency.percentile(99) / 1000},
            {"max", all.latency.max() / 1000}}},
          {"clock_precision_ns", clock.precision_ns()}};
}

int measure_rate(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = rate_config(values);
  BenchRun run("rate", values, effective, rate_columns(), communicator);
  CommonClock clock(communicator);
  Plot plot{"Latency of samples", "samples a second (Hz)", "us", true, true, {}};
  for (const auto n_values : config.values) {
    PlotSeries middle{std::to_string(n_values) + " values, median", {}, {}};
    PlotSeries high{std::to_string(n_values) + " values, p99", {}, {}};
    for (const auto hz : config.hz) {
      const Json point = measure_point(config, run, clock, hz, n_values);
      run.add(point);
      middle.x.push_back(static_cast<double>(hz));
      middle.y.push_back(point["shown_us"]["p50"]);
      high.x.push_back(static_cast<double>(hz));
      high.y.push_back(point["shown_us"]["p99"]);
    }
    plot.series.push_back(middle);
    plot.series.push_back(high);
  }
  return run.finish({plot}, kExitOk);
}

}  // namespace

int bench_rate(int argc, const char* const* argv) {
  CommandLine line(
      "bench rate",
      "bench rate [options]\nSamples at a set rate from rank 0 to rank 1, whether or not the exchange keeps "
      "up: steps missed, and latency from the planned time of each sample.");
  add_rate_options(line.options());
  BenchRun::add_options(line.options(), 1);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_rate(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
