#include <algorithm>
#include <cmath>
#include <limits>

#include "app/command/options.hpp"
#include "app/document/json_message.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/clock_report.hpp"
#include "app/tools/bench/real_clocks.hpp"
#include "app/tools/bench/simulated_clocks.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr double kMillion = 1e6;
constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr const char* kSimulated = "simulated";
const std::vector<std::string> kClocks = {"real", "raw", kSimulated};

struct ClocksConfig {
  std::vector<std::string> clocks;
  ClockTrialSettings trial;
  SimulatedClockSettings world;  ///< drift and jitter are taken from the lists
  std::vector<double> drifts_ppm;
  std::vector<std::int64_t> jitters;
  bool trips = false;
};

void add_clock_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"clocks", text_value("LIST", "real"),
        "real: the steady clocks that runs use; raw: beside rank 0's, the other ranks' CLOCK_MONOTONIC_RAW, which "
        "drifts on one host, too; simulated: two clocks whose truth is known"},
       {"duration", text_value("LIST", "2s"), "times since the synchronisation at which the errors are measured"},
       {"sync", text_value("TIME", "1s"), "time for which the clocks are synchronised before"},
       {"round-trips", text_value("N", "20"), "of a batch; the first one has five times as many"},
       {"interval", text_value("TIME", "1s"), "between batches; shorter at first, while rates are unknown"},
       {"trips", po::bool_switch(), "keep the round trips in --report-json"},
       {"drift", text_value("LIST", "20"), "simulated: ppm by which the other clock runs fast, up to 500; may be < 0"},
       {"jitter", text_value("LIST", "1us"), "simulated: mean delay of a message beyond the least, exponential"},
       {"delay", text_value("TIME", "2us"), "simulated: least time of a message"},
       {"asymmetry", text_value("TIME", "0s"), "simulated: messages of rank 0 take longer by this"},
       {"offset", text_value("TIME", "1h"), "simulated: by which the other clock is ahead at the start"},
       {"seed", text_value("N", "1"), "simulated: of the first repetition; the next ones follow"}});
}

std::vector<std::int64_t> clock_times(const po::variables_map& values, const char* option, std::int64_t low,
                                      std::int64_t high) {
  std::vector<std::int64_t> times;
  for (const auto& word : listed_words(values, option)) {
    times.push_back(nanoseconds_of(option, word, low, high));
  }
  return times;
}

double drift_ppm(const std::string& word) {
  std::size_t end = 0;
  double ppm = std::numeric_limits<double>::quiet_NaN();
  try {
    ppm = std::stod(word, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != word.size() || !(std::abs(ppm) <= 500)) {
    throw UserError("--drift: '" + word + "' is not a number of ppm from -500 to 500");
  }
  return ppm;
}

void read_simulated(const po::variables_map& values, ClocksConfig& config) {
  const auto time = [&](const char* option, std::int64_t high) {
    return nanoseconds_of(option, values[option].as<std::string>(), 0, high);
  };
  for (const auto& word : listed_words(values, "drift")) config.drifts_ppm.push_back(drift_ppm(word));
  config.jitters = clock_times(values, "jitter", 0, 1'000'000'000);
  config.world.delay = time("delay", 1'000'000'000);
  config.world.asymmetry = time("asymmetry", 1'000'000'000);
  config.world.offset = time("offset", 1000 * kHourNs);
  config.world.seed = count_option(values, "seed", 0, std::numeric_limits<std::uint32_t>::max());
}

ClocksConfig clocks_config(const po::variables_map& values, int ranks) {
  ClocksConfig config;
  config.clocks = listed_words(values, "clocks");
  bool real = false;
  for (const auto& name : config.clocks) {
    if (std::ranges::count(kClocks, name) == 0) {
      throw UserError("--clocks: no clocks '" + name + "'; known are: real, raw, simulated");
    }
    real = real || name != kSimulated;
  }
  if (real && ranks == 1) throw UserError("one rank has nothing to compare: use mpirun -np 2, or --clocks simulated");
  const std::int64_t longest = real ? kHourNs : 1000 * kHourNs;
  config.trial.durations = clock_times(values, "duration", 1000, longest);
  std::ranges::sort(config.trial.durations);
  config.trial.sync_ns = nanoseconds_of("sync", values["sync"].as<std::string>(), 0, longest);
  auto& sync = config.trial.sync;
  sync.batch_round_trips = static_cast<int>(count_option(values, "round-trips", 1, 100'000));
  sync.round_trips = 5 * sync.batch_round_trips;
  sync.interval_ns = nanoseconds_of("interval", values["interval"].as<std::string>(), 1'000'000, kHourNs);
  config.trips = values["trips"].as<bool>();
  read_simulated(values, config);
  return config;
}

/// Collects round trips on rank 0, for each rank no more than memory allows.
class TripLog {
 public:
  explicit TripLog(int ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}
  void add(int rank, const RoundTrip& trip) {
    constexpr std::size_t kMost = 1'000'000;
    auto& all = of_rank_[static_cast<std::size_t>(rank)];
    if (all.size() < kMost) all.push_back(trip);
  }
  /// The first `n` of a rank.
  [[nodiscard]] std::vector<RoundTrip> first(int rank, std::uint64_t n) const {
    const auto& all = of_rank_[static_cast<std::size_t>(rank)];
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(n, all.size()))};
  }

 private:
  std::vector<std::vector<RoundTrip>> of_rank_;
};

/// Measures pairs of clocks and reports them.
class ClocksBench {
 public:
  ClocksBench(const ClocksConfig& config, BenchRun& run) : config_(config), run_(run) {}

  /// Collective.
  void measure(const std::string& clocks) {
    if (clocks != kSimulated) return measure_real(clocks);
    // Simulated clocks need no other rank.
    if (!run_.first()) return;
    for (const auto drift : config_.drifts_ppm) {
      for (const auto jitter : config_.jitters) simulate(drift, jitter);
    }
  }

  [[nodiscard]] Plot plot() const {
    return {"Error of the other rank's time", "time since the synchronisation (s)", "ns", true, true, lines_};
  }

 private:
  void measure_real(const std::string& name) {
    const auto& communicator = run_.communicator();
    const auto clock = name == "raw" ? RealClock::raw : RealClock::steady;
    std::vector<Json> trials(static_cast<std::size_t>(communicator.size()), Json::array());
    for (int i = 0; i < run_.repeat(); ++i) {
      TripLog log(communicator.size());
      auto settings = config_.trial;
      settings.sync.heard = [&](int rank, const RoundTrip& trip) { log.add(rank, trip); };
      const auto pair = real_clocks(communicator, clock, settings.sync);
      const auto of_rank = all_gather_json(communicator, trial_json(run_clock_trial(*pair, settings)));
      if (!run_.first()) continue;
      for (int rank = 1; rank < communicator.size(); ++rank) {
        auto trial = of_rank[static_cast<std::size_t>(rank)];
        add_trips(trial, log.first(rank, trial["round_trips"]), config_.trips);
        trials[static_cast<std::size_t>(rank)].push_back(std::move(trial));
      }
    }
    if (!run_.first()) return;
    for (int rank = 1; rank < communicator.size(); ++rank) {
      add(trials[static_cast<std::size_t>(rank)], {{"clocks", name}, {"rank", rank}}, name);
    }
  }

  void simulate(double drift, std::int64_t jitter) {
    auto world = config_.world;
    world.drift = drift / kMillion;
    world.jitter = static_cast<double>(jitter);
    auto trials = Json::array();
    for (int i = 0; i < run_.repeat(); ++i, ++world.seed) {
      TripLog log(2);
      auto settings = config_.trial;
      settings.sync.heard = [&](int rank, const RoundTrip& trip) { log.add(rank, trip); };
      const auto pair = simulate_clocks(world, settings.sync);
      auto trial = trial_json(run_clock_trial(*pair, settings));
      add_trips(trial, log.first(1, trial["round_trips"]), config_.trips);
      trials.push_back(std::move(trial));
    }
    const Json known{{"clocks", kSimulated},     {"rank", 1},
                     {"drift_ppm", drift},       {"jitter_ns", jitter},
                     {"delay_ns", world.delay},  {"asymmetry_ns", world.asymmetry},
                     {"offset_ns", world.offset}};
    add(trials, known, "simulated, " + std::to_string(std::lround(drift)) + " ppm");
  }

  void add(const Json& trials, const Json& known, const std::string& name) {
    PlotSeries uncorrected{name + ", uncorrected", {}, {}};
    PlotSeries corrected{name + ", corrected", {}, {}};
    for (std::size_t d = 0; d < config_.trial.durations.size(); ++d) {
      auto point = clocks_point(trials, d, known);
      for (auto* line : {&uncorrected, &corrected}) line->x.push_back(point["after_s"]);
      uncorrected.y.push_back(point["uncorrected_ns"]);
      corrected.y.push_back(point["corrected_ns"]);
      run_.add(std::move(point));
    }
    lines_.push_back(std::move(uncorrected));
    lines_.push_back(std::move(corrected));
  }

  const ClocksConfig& config_;
  BenchRun& run_;
  std::vector<PlotSeries> lines_;
};

int measure_clocks(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = agreed(communicator, [&] { return clocks_config(values, communicator.size()); });
  BenchRun run("clocks", values, effective, clocks_columns(), communicator);
  ClocksBench bench(config, run);
  for (const auto& clocks : config.clocks) bench.measure(clocks);
  return run.finish({bench.plot()}, kExitOk);
}

}  // namespace

int bench_clocks(int argc, const char* const* argv) {
  CommandLine line("bench clocks",
                   "bench clocks [options]\nSynchronises clocks by round trips, as runs with --slot do, and measures "
                   "the error of the common time at once and later: with the offset alone, with the drift corrected, "
                   "and kept in step by further round trips. Real clocks between ranks, or simulated ones for long "
                   "times.");
  add_clock_options(line.options());
  BenchRun::add_options(line.options(), 3);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_clocks(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
