#include "app/command/common_clock.hpp"
#include "app/command/options.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/distribution_plots.hpp"
#include "app/tools/bench/sampling.hpp"
#include "app/tools/bench/transports.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

struct RateConfig {
  std::vector<std::uint64_t> hz;
  std::vector<std::uint64_t> values;
  double seconds = 0;
  std::vector<std::string> waits;
  std::vector<std::string> peers;  ///< kRing first
};

void add_rate_options(po::options_description& options) {
  add_option_rows(
      options, {{"hz", text_value("LIST", "100,1000,10000,100000"), "samples a second"},
                {"values", text_value("LIST", "1,4,16,64"), "values of 8 bytes in a sample"},
                {"seconds", po::value<double>()->value_name("S")->default_value(0.3, "0.3"), "length of a measurement"},
                {"wait", text_value("LIST", "poll"), "how both ends wait: poll, yield, sleep, timer"},
                {"peer", text_value("LIST", "", "none"), "the same over: put, mpi, zmq-ipc, zmq-tcp, udp, shm"}});
}

RateConfig rate_config(const po::variables_map& values) {
  RateConfig config;
  config.hz = counts_option(values, "hz", 1, 100'000'000);
  config.values = counts_option(values, "values", 1, 1'000'000);
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 3600.0);
  config.waits = listed_words(values, "wait");
  for (const auto& name : config.waits) parsed("wait", [&] { return parse_wait(name); });
  config.peers = parsed("peer", [&] { return with_ring(words_of(values["peer"].as<std::string>())); });
  return config;
}

std::vector<BenchColumn> rate_columns(const po::variables_map& values) {
  std::vector<BenchColumn> columns = {
      {"hz", "rate", "Hz", 0}, {"values", "values", "8 bytes", 0}, {"wait", "wait", "", 0}};
  if (!values["peer"].as<std::string>().empty()) columns.push_back({"peer", "peer", "", 0});
  columns.insert(columns.end(), {{"steps", "steps", "", 0},
                                 {"missed", "missed", "", 0},
                                 {"lost", "lost", "", 0},
                                 {"/shown_us/p50", "median", "us", 2},
                                 {"/shown_us/p99", "p99", "us", 2},
                                 {"/shown_us/max", "max", "us", 1},
                                 {"cpu_us_per_message", "CPU", "us", 2},
                                 {"spread", "spread", "%", 0}});
  if (const auto& limit = values["limit"].as<std::string>(); !limit.empty()) {
    columns.push_back({"/latency/share_above_limit", "> " + limit, "%", 3});
  }
  return columns;
}

/// Returns the sums over the repetitions and the percentiles of all samples.
Json rate_point(const SamplingSettings& settings, BenchRun& run, CommonClock& clock) {
  Sampled all(settings.kept);
  std::vector<double> medians;
  for (int i = 0; i < run.repeat(); ++i) {
    clock.refresh();
    const auto one = sample(settings, clock, run.communicator());
    all.add(one);
    medians.push_back(one.latency.histogram().percentile(50));
    run.write_raw(static_cast<std::size_t>(i), "latency", one.latency);
  }
  const auto& latency = all.latency.histogram();
  const auto received = static_cast<double>(latency.count());
  return {
      {"hz", settings.hz},
      {"values", settings.values},
      {"message_bytes", settings.values * sizeof(std::int64_t)},
      {"peer", settings.peer},
      {"steps", all.steps},
      {"missed", all.missed},
      {"lost", all.lost()},
      {"latency", all.latency.to_json()},
      {"repetitions", {{"latency_p50_ns", medians}}},
      {"spread", spread_of(medians)},
      {"cpu_us_per_message", received == 0 ? Json() : Json(all.cpu_seconds * 1e6 / received)},
      {"shown_us",
       {{"p50", latency.percentile(50) / 1000}, {"p99", latency.percentile(99) / 1000}, {"max", latency.max() / 1000}}},
      {"clock_precision_ns", clock.precision_ns()}};
}

std::vector<Plot> rate_plots(const Json& points) {
  Plot over_rate{"Latency of samples, median", "samples a second (Hz)", "us", true, true, {}};
  DistributionPlots distributions("Samples");
  for (const auto& point : points) {
    const auto name = series_name(point, {"transport", "wait", "peer"});
    if (point["shown_us"]["p50"].is_null()) continue;
    add_to_series(over_rate, point["values"].dump() + " values, " + name, point["hz"], point["shown_us"]["p50"]);
    distributions.add(point["message_bytes"], point["hz"].dump() + " Hz, " + name, histogram_of(point["latency"]));
  }
  auto plots = distributions.plots();
  plots.insert(plots.begin(), std::move(over_rate));
  return plots;
}

int measure_rate(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = agreed(communicator, [&] { return rate_config(values); });
  BenchRun run("rate", values, effective, rate_columns(values), communicator);
  CommonClock clock(communicator);
  const auto hosts = communicator.all_gather(host_name());
  const bool one_host = hosts[static_cast<std::size_t>(receiver_of_samples(communicator))] == hosts[0];
  for (const auto n_values : config.values) {
    for (const auto& wait : config.waits) {
      for (const auto& peer : config.peers) {
        if (const auto obstacle = obstacle_to(peer, one_host, n_values * sizeof(std::int64_t)); !obstacle.empty()) {
          run.note(obstacle);
          continue;
        }
        for (const auto hz : config.hz) {
          Json point = rate_point({peer, parse_wait(wait), hz, n_values, config.seconds, run.times_kept()}, run, clock);
          point["wait"] = wait;
          run.add(std::move(point));
        }
      }
    }
  }
  return run.finish(rate_plots(run.points()), kExitOk);
}

}  // namespace

int bench_rate(int argc, const char* const* argv) {
  CommandLine line(
      "bench rate",
      "bench rate [options]\nSamples at a set rate from rank 0 to rank 1, whether or not the exchange keeps "
      "up: steps missed, and latency from the planned time of each sample.");
  add_rate_options(line.options());
  add_transport_options(line.options());
  BenchRun::add_time_options(line.options());
  BenchRun::add_options(line.options(), 1);
  const auto environment = own_environment();
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    const auto effective = line.effective_config(values);
    if (!over_transports(values)) return measure_rate(values, effective, communicator);
    agreed(communicator, [&] { return rate_config(values); });
    return bench_over_transports({"rate", rate_columns(values), rate_plots}, values, effective, communicator,
                                 environment);
  });
}

}  // namespace eventloom
