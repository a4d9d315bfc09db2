#include <algorithm>
#include <array>
#include <string_view>

#include "app/command/common_clock.hpp"
#include "app/command/options.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/distribution_plots.hpp"
#include "app/tools/bench/ping_pong.hpp"
#include "app/tools/bench/transports.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

struct LatencyConfig {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> waits;
  std::vector<std::string> places;  ///< empty: all that exist among the ranks
  std::vector<std::string> peers;   ///< kRing first
  std::vector<std::chrono::nanoseconds> pauses;
  std::optional<std::uint64_t> count;
  std::uint64_t warm_up = 0;
};

constexpr std::array<std::string_view, 3> kPlaces = {"local-loop", "local-trip", "inter-node"};
constexpr std::uint64_t kRoundTrips = 10'000;
constexpr std::chrono::seconds kTimeOfPauses{5};
constexpr std::uint64_t kLeastRoundTrips = 10;
constexpr std::int64_t kLongestPauseNs = 10'000'000'000;

void add_latency_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"sizes", text_value("LIST", "8,16,32,64,128,256,512,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB"),
        "bytes of a message, 8 or more"},
       {"place", text_value("LIST", "", "all available"), "local-loop, local-trip, inter-node; comma-separated"},
       {"wait", text_value("LIST", "poll,yield"), "how both ends wait: poll, yield, sleep, timer"},
       {"pause", text_value("LIST", "", "none"), "rank 0 rests before each message, e.g. 0s,1ms,1s: caches go cold"},
       {"peer", text_value("LIST", "", "none"), "the same over: put, mpi, zmq-ipc, zmq-tcp, udp, shm"},
       {"count", text_value("N", "", "10000; with --pause as many as take 5 s"), "round trips of a measurement"},
       {"warm-up", text_value("N", "1000"), "round trips before it, reported separately"}});
}

LatencyConfig latency_config(const po::variables_map& values) {
  const auto words = [&](const char* option) { return words_of(values[option].as<std::string>()); };
  LatencyConfig config;
  config.sizes = sizes_option(values, "sizes", 8, 1U << 28);
  config.waits = listed_words(values, "wait");
  for (const auto& name : config.waits) parsed("wait", [&] { return parse_wait(name); });
  config.places = words("place");
  for (const auto& name : config.places) {
    if (std::ranges::find(kPlaces, name) == kPlaces.end()) {
      throw UserError("--place: '" + name + "' is not local-loop, local-trip or inter-node");
    }
  }
  config.peers = parsed("peer", [&] { return with_ring(words("peer")); });
  for (const auto& pause : words("pause")) {
    config.pauses.emplace_back(nanoseconds_of("pause", pause, 0, kLongestPauseNs));
  }
  if (config.pauses.empty()) config.pauses.emplace_back(0);
  if (!values["count"].as<std::string>().empty()) config.count = count_option(values, "count", 1, 100'000'000);
  config.warm_up = count_option(values, "warm-up", 0, 100'000'000);
  return config;
}

std::uint64_t round_trips(const LatencyConfig& config, std::chrono::nanoseconds pause) {
  if (config.count) return *config.count;
  if (pause.count() == 0) return kRoundTrips;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(kTimeOfPauses / pause), kLeastRoundTrips, kRoundTrips);
}

std::vector<BenchColumn> latency_columns(const po::variables_map& values) {
  const auto given = [&](const char* option) { return !values[option].as<std::string>().empty(); };
  std::vector<BenchColumn> columns = {{"place", "place", "", 0},
                                      {"kind", "what", "", 0},
                                      {"message_bytes", "message", "bytes", 0},
                                      {"wait", "wait", "", 0}};
  if (given("pause")) columns.push_back({"/shown_us/pause", "pause", "us", 0});
  if (given("peer")) columns.push_back({"peer", "peer", "", 0});
  columns.insert(columns.end(), {{"/shown_us/one_way_p50", "one way", "us", 2},
                                 {"/shown_us/one_way_p99", "p99", "us", 2},
                                 {"/shown_us/round_trip_p50", "round trip", "us", 2},
                                 {"/shown_us/round_trip_p99", "p99", "us", 2},
                                 {"/shown_us/round_trip_p999", "p99.9", "us", 2},
                                 {"/shown_us/round_trip_max", "max", "us", 1},
                                 {"/shown_us/completion_p50", "complete", "us", 2},
                                 {"cpu_us_per_message", "CPU", "us", 2},
                                 {"spread", "spread", "%", 0}});
  if (given("limit")) {
    columns.push_back({"/one_way/share_above_limit", "> " + values["limit"].as<std::string>(), "%", 3});
  }
  return columns;
}

/// Location of the other end.
struct Place {
  std::string name;
  int echo = 0;
};

/// Rank 0 paired with itself, with the first other rank of its host, and with the first rank of another host. Returns
/// only the `wanted` places, or all if none are named. Throws UserError if a wanted place does not exist.
std::vector<Place> places_of(const Communicator& communicator, const std::vector<std::string>& wanted) {
  const auto hosts = communicator.all_gather(host_name());
  std::vector<Place> places = {{"local-loop", 0}};
  const auto add_first = [&](const char* name, bool same_host) {
    for (int r = 1; r < communicator.size(); ++r) {
      if ((hosts[static_cast<std::size_t>(r)] == hosts[0]) != same_host) continue;
      places.push_back({name, r});
      return;
    }
  };
  add_first("local-trip", true);
  add_first("inter-node", false);
  if (wanted.empty()) return places;
  for (const auto& name : wanted) {
    if (std::ranges::find(places, name, &Place::name) == places.end()) {
      throw UserError("--place: the ranks given have no " + name);
    }
  }
  std::erase_if(places, [&](const Place& place) { return std::ranges::find(wanted, place.name) == wanted.end(); });
  return places;
}

std::vector<double> percentiles(const std::vector<PingPongTimes>& all, MeasuredTimes PingPongTimes::*which, double p) {
  std::vector<double> values;
  for (const auto& times : all) values.push_back((times.*which).histogram().percentile(p));
  return values;
}

/// The repetitions together, and the medians of their percentiles.
Json point_of(const std::vector<PingPongTimes>& all, TimesKept kept) {
  Json point;
  auto& shown = point["shown_us"];
  for (const auto& [name, which] : {std::pair("one_way", &PingPongTimes::one_way),
                                    {"round_trip", &PingPongTimes::round_trip},
                                    {"completion", &PingPongTimes::completion},
                                    {"warm_up", &PingPongTimes::warm_up}}) {
    MeasuredTimes together(kept);
    for (const auto& times : all) together.add(times.*which);
    if (together.histogram().count() == 0 && which == &PingPongTimes::completion) continue;
    point[name] = together.to_json();
    for (const auto& [suffix, p] : {std::pair("_p50", 50.0), {"_p99", 99.0}, {"_p999", 99.9}}) {
      const auto of_each = percentiles(all, which, p);
      shown[std::string(name) + suffix] = median(of_each) / 1000;
      point["repetitions"][std::string(name) + suffix + "_ns"] = of_each;
    }
    shown[std::string(name) + "_max"] = together.histogram().max() / 1000;
  }
  double cpu = 0;
  std::uint64_t messages = 0;
  for (const auto& times : all) {
    cpu += times.cpu_seconds;
    messages += times.messages;
  }
  point["cpu_us_per_message"] = cpu * 1e6 / static_cast<double>(messages);
  point["spread"] = spread_of(percentiles(all, &PingPongTimes::one_way, 50));
  return point;
}

/// All measurements of one place, way of waiting, pause and peer.
class LatencySeries {
 public:
  LatencySeries(const LatencyConfig& config, BenchRun& run, CommonClock& clock, PingPongSettings settings, Json about)
      : config_(config), run_(run), clock_(clock), settings_(std::move(settings)), about_(std::move(about)) {}

  void measure(bool one_host) {
    for (const auto size : config_.sizes) {
      EchoingEnd echo;
      if (const auto obstacle = obstacle_to(settings_.peer, one_host, size); !obstacle.empty()) {
        run_.note(obstacle);
        continue;
      }
      measure("message", std::vector<std::byte>(size, std::byte{0x5a}), echo);
    }
    BuildingEnd build;
    if (obstacle_to(settings_.peer, one_host, 0).empty()) measure("built event", small_epoch_buffer(), build);
  }

 private:
  void measure(const std::string& kind, const std::vector<std::byte>& message, FarEnd& far) {
    std::vector<PingPongTimes> all;
    for (int i = 0; i < run_.repeat(); ++i) {
      clock_.refresh();
      all.push_back(ping_pong(settings_, message, far, clock_, run_.communicator()));
    }
    if (!run_.first()) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      run_.write_raw(i, "one_way", all[i].one_way);
      run_.write_raw(i, "round_trip", all[i].round_trip);
      run_.write_raw(i, "completion", all[i].completion);
      run_.write_raw(i, "warm_up", all[i].warm_up);
    }
    Json point = point_of(all, settings_.kept);
    point.update(about_);
    point["shown_us"]["pause"] = static_cast<double>(settings_.pause.count()) / 1e3;
    point["kind"] = kind;
    point["message_bytes"] = message.size();
    point["clock_precision_ns"] = clock_.precision_ns();
    run_.add(std::move(point));
  }

  const LatencyConfig& config_;
  BenchRun& run_;
  CommonClock& clock_;
  PingPongSettings settings_;
  Json about_;
};

std::vector<Plot> latency_plots(const Json& points) {
  Plot medians{"Latency, one way, median", "message (bytes)", "us", true, true, {}};
  DistributionPlots distributions("One way");
  for (const auto& point : points) {
    if (point["kind"] != "message") continue;
    const auto name = series_name(point, {"transport", "place", "wait", "pause_ns", "peer"});
    add_to_series(medians, name, point["message_bytes"], point["shown_us"]["one_way_p50"]);
    distributions.add(point["message_bytes"], name, histogram_of(point["one_way"]));
  }
  auto plots = distributions.plots();
  plots.insert(plots.begin(), std::move(medians));
  return plots;
}

int measure_latency(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = agreed(communicator, [&] { return latency_config(values); });
  const auto places = agreed(communicator, [&] { return places_of(communicator, config.places); });
  BenchRun run("latency", values, effective, latency_columns(values), communicator);
  CommonClock clock(communicator);
  for (const auto& place : places) {
    for (const auto& wait : config.waits) {
      for (const auto pause : config.pauses) {
        for (const auto& peer : config.peers) {
          PingPongSettings settings{.peer = peer,
                                    .wait = parse_wait(wait),
                                    .echo = place.echo,
                                    .count = round_trips(config, pause),
                                    .warm_up = config.warm_up,
                                    .pause = pause,
                                    .kept = run.times_kept()};
          const Json about = {{"place", place.name}, {"wait", wait}, {"pause_ns", pause.count()}, {"peer", peer}};
          LatencySeries(config, run, clock, std::move(settings), about).measure(place.name != "inter-node");
        }
      }
    }
  }
  return run.finish(latency_plots(run.points()), kExitOk);
}

}  // namespace

int bench_latency(int argc, const char* const* argv) {
  CommandLine line(
      "bench latency",
      "bench latency [options]\nRound trips: within rank 0, between two ranks of its host, and to "
      "another host; the time until the sender knows that a message has arrived; and the time from sending "
      "a small epoch buffer to its event built.");
  add_latency_options(line.options());
  add_transport_options(line.options());
  BenchRun::add_time_options(line.options());
  BenchRun::add_options(line.options(), 5);
  const auto environment = own_environment();
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    const auto effective = line.effective_config(values);
    if (!over_transports(values)) return measure_latency(values, effective, communicator);
    agreed(communicator, [&] { return latency_config(values); });
    return bench_over_transports({"latency", latency_columns(values), latency_plots}, values, effective, communicator,
                                 environment);
  });
}

}  // namespace eventloom
