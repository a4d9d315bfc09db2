#include <algorithm>
#include <stdexcept>

#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/command/schedule_table.hpp"
#include "app/document/clock_json.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/peers.hpp"
#include "app/tools/bench/traffic.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;
using Json = nlohmann::json;

namespace {

struct PatternsConfig {
  std::vector<std::string> patterns;
  std::vector<ScheduleSettings> schedules;  ///< empty: those that suit the pattern
  std::vector<std::uint64_t> sizes;
  std::vector<std::optional<std::uint32_t>> queues;  ///< std::nullopt: chosen by message size
  std::optional<std::uint64_t> cell_size;            ///< std::nullopt: chosen by message size
  std::uint64_t slot_ns = 0;
  double spread = 0;
  double control = 0;
  double seconds = 0;
  std::uint64_t slices = 0;
  Receive receive = Receive::look;
  std::int64_t slow_builder = -1;
  std::uint64_t build_ns = 0;
  std::vector<std::string> peers;
};

ScheduleSettings schedule_settings(std::string name, std::uint64_t slot_ns = 0, std::string table_text = {}) {
  ScheduleSettings settings;
  settings.name = std::move(name);
  settings.slot_ns = slot_ns;
  settings.table_text = std::move(table_text);
  return settings;
}
constexpr double kMemcpySeconds = 0.02;

void add_patterns_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"pattern", text_value("LIST", "", "all"),
        "one-to-one, one-to-all, all-to-one, all-to-all, fixed-target; comma-separated"},
       {"schedule", text_value("LIST", "", "round-robin; all-to-all: chaotic too"),
        "schedules to measure, as in 'run'"},
       {"sizes", text_value("LIST", "1KiB,4KiB,16KiB,64KiB,256KiB,1MiB"), "bytes of a message"},
       {"queue", text_value("LIST", "", kDefaultDepth), "receive queue: cells in each ring, e.g. 11,20,100"},
       {"cell-size", text_value("BYTES", "", kDefaultCell), "bytes of a cell; small messages share one"},
       {"slot", text_value("TIME", "", "none"), "length of a round-robin slot, e.g. 50us, kept by synchronised clocks"},
       {"spread", text_value("PERCENT", "0"), "sizes vary uniformly by this much up and down, e.g. 50"},
       {"control", text_value("PERCENT", "0"),
        "reports to a controller per 100 messages, and its broadcasts, as two-sided messages beside the data"},
       {"seconds", po::value<double>()->value_name("S")->default_value(0.1, "0.1"), "length of a measurement"},
       {"slices", text_value("N", "0", "as many as fit the time"), "number of slices instead of a time"},
       {"receive", text_value("HOW", "look"),
        "what receivers do: look (at headers only) or copy (every byte, as builders must)"},
       {"verify", po::bool_switch(), "receivers check every byte of the pseudo-random payload"},
       {"slow-builder", text_value("N", "", "none"), "builder that takes twice the build time"},
       {"build-time", text_value("TIME", "", "with --slow-builder: twice what the ceiling needs"),
        "time that a builder takes for a slice without receiving"},
       {"peer", text_value("LIST", "", "none"), "the same traffic, in the same run, over: mpi, zmq-ipc, zmq-tcp"}});
}

std::vector<std::optional<std::uint32_t>> queues_option(const po::variables_map& values) {
  if (values["queue"].as<std::string>().empty()) return {std::nullopt};
  std::vector<std::optional<std::uint32_t>> queues;
  for (const auto depth : counts_option(values, "queue", 1, 65536)) queues.emplace_back(depth);
  return queues;
}

/// Collective.
PatternsConfig patterns_config(const po::variables_map& values, const Collective& ranks) {
  const auto word = [&](const char* option) { return values[option].as<std::string>(); };
  PatternsConfig config;
  config.patterns = word("pattern").empty() ? pattern_names() : words_of(word("pattern"));
  for (const auto& name : config.patterns) parsed("pattern", [&] { return connections_of(name, 1); });
  config.slot_ns = slot_option(values);
  for (const auto& name : words_of(word("schedule"))) {
    check_schedule(name, config.slot_ns);
    config.schedules.push_back(schedule_settings(name, config.slot_ns, schedule_table_text(name, ranks)));
  }
  config.sizes = sizes_option(values, "sizes", 1, 1U << 30);
  config.queues = queues_option(values);
  config.cell_size = cell_option(values, "cell-size");
  config.spread = static_cast<double>(count_option(values, "spread", 0, 99)) / 100;
  config.control = static_cast<double>(count_option(values, "control", 0, 100)) / 100;
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 3600.0);
  config.slices = count_option(values, "slices", 0, 1'000'000'000);
  if (word("receive") != "look" && word("receive") != "copy") throw UserError("--receive must be look or copy");
  config.receive = word("receive") == "copy" ? Receive::copy : Receive::look;
  if (values["verify"].as<bool>()) config.receive = Receive::verify;
  if (!word("slow-builder").empty()) {
    config.slow_builder = static_cast<std::int64_t>(count_option(values, "slow-builder", 0, 100'000));
  }
  if (!word("build-time").empty()) {
    config.build_ns = parsed("build-time", [&] { return parse_picoseconds(word("build-time")) / 1000; });
  }
  config.peers = words_of(word("peer"));
  return config;
}

std::vector<BenchColumn> patterns_columns(const PatternsConfig& config) {
  std::vector<BenchColumn> columns = {{"pattern", "pattern", "", 0},
                                      {"schedule", "schedule", "", 0},
                                      {"message_bytes", "message", "bytes", 0},
                                      {"queue", "queue", "cells", 0},
                                      {"rate_bytes_per_us", "rate", "bytes/us", 0},
                                      {"ceiling_bytes_per_us", "bare put", "bytes/us", 0},
                                      {"share", "share", "%", 0},
                                      {"memcpy_bytes_per_us", "memcpy", "bytes/us", 0}};
  for (const auto& peer : config.peers)
    columns.push_back({"/peers/" + peer + "/rate_bytes_per_us", peer, "bytes/us", 0});
  if (config.receive == Receive::verify) columns.push_back({"verify_errors", "errors", "", 0});
  columns.push_back({"retransmits", "resent", "TCP", 0});
  return columns;
}

/// All measurements of one pattern, schedule, size and queue.
class Point {
 public:
  Point(const PatternsConfig& config, const Communicator& communicator, std::string pattern, ScheduleSettings schedule,
        std::uint64_t message, std::optional<std::uint32_t> queue)
      : config_(config), communicator_(communicator), pattern_(std::move(pattern)) {
    traffic_.connections = connections_of(pattern_, communicator.size());
    traffic_.schedule = std::move(schedule);
    traffic_.message_bytes = message;
    traffic_.spread = config.spread;
    traffic_.ring = ring_for(traffic_, communicator, {queue, config.cell_size});
    traffic_.limits = {.seconds = config.slices == 0 ? config.seconds : 0, .slices = config.slices};
    traffic_.receive = config.receive;
    traffic_.control = config.control;
    traffic_.bin_seconds = config.seconds / 20;
  }

  Json measure(int repeat) {
    auto bare = traffic_;
    bare.limits = {.seconds = config_.seconds, .slices = 0};
    for (int i = 0; i < repeat; ++i) {
      ceilings_.push_back(bare_put_rate(bare, communicator_));
      set_build_times();
      results_.push_back(run_traffic(traffic_, communicator_));
      rates_.push_back(
          rate_per_rank(traffic_.connections, static_cast<double>(results_.back().bytes()), results_.back().seconds));
    }
    Json point = describe();
    if (!config_.peers.empty()) point["peers"] = measure_peers(repeat);
    return point;
  }

 private:
  /// Makes builders slower than the network, and one of them twice as slow, to show how a schedule handles
  /// unequal builders.
  void set_build_times() {
    const auto ranks = traffic_.connections.size();
    std::uint64_t ns = config_.build_ns;
    if (config_.slow_builder >= 0 && ns == 0) {
      const double slice_bytes = static_cast<double>(traffic_.message_bytes * std::max<std::size_t>(ranks - 1, 1));
      ns = static_cast<std::uint64_t>(2000 * slice_bytes / median(ceilings_));
    }
    traffic_.build_time.assign(ranks, std::chrono::nanoseconds(ns));
    const auto slow = static_cast<std::size_t>(config_.slow_builder);
    if (config_.slow_builder >= 0 && slow < ranks) traffic_.build_time[slow] *= 2;
  }

  [[nodiscard]] Json describe() const {
    const auto& last = results_.back();
    const double rate = median(rates_);
    const double ceiling = median(ceilings_);
    std::uint64_t errors = 0;
    for (const auto& r : results_) errors += r.wrong_chunks();
    Json json{{"pattern", pattern_},
              {"schedule", traffic_.schedule.name},
              {"message_bytes", traffic_.message_bytes},
              {"queue", traffic_.ring.depth},
              {"cell_bytes", traffic_.ring.cell_bytes},
              {"rate_bytes_per_us", rate},
              {"ceiling_bytes_per_us", ceiling},
              {"share", rate / ceiling},
              {"memcpy_bytes_per_us", memcpy_rate(traffic_, kMemcpySeconds)},
              {"rates_bytes_per_us", rates_},
              {"ceilings_bytes_per_us", ceilings_},
              {"seconds", last.seconds},
              {"messages", last.messages()},
              {"slices", last.slices},
              {"slices_of_builder", last.slices_of_builder},
              {"bytes", last.bytes()},
              {"verify_errors", errors},
              {"control_messages", last.control_messages},
              {"retransmits", last.retransmits},
              {"late_transfers", last.sent[Metric::late_transfers]},
              {"assignment_notes", last.assignment_notes}};
    last.sent.put_into(json["exchange"], Account::exchange);
    if (!last.clocks.empty()) json["clocks"] = to_json(last.clocks);
    for (const auto build : traffic_.build_time) json["build_time_ns"].push_back(build.count());
    for (const auto& c : last.connections) json["connections"].push_back(describe(c));
    return json;
  }

  [[nodiscard]] Json describe(const Connection& c) const {
    Json over_time = Json::array();
    for (const auto bytes : c.count.bytes_over_time) {
      over_time.push_back(static_cast<double>(bytes) / (traffic_.bin_seconds * 1e6));
    }
    return {{"from", c.from},
            {"to", c.to},
            {"messages", c.count.messages},
            {"bytes", c.count.bytes},
            {"bin_seconds", traffic_.bin_seconds},
            {"rate_over_time_bytes_per_us", over_time}};
  }

  Json measure_peers(int repeat) {
    Json json;
    for (const auto& name : config_.peers) {
      const auto peer = make_peer(name, communicator_);
      std::vector<double> rates;
      for (int i = 0; i < repeat; ++i) rates.push_back(measure_peer(*peer));
      json[name] = {{"rate_bytes_per_us", median(rates)}, {"rates_bytes_per_us", rates}};
    }
    return json;
  }

  double measure_peer(Peer& peer) {
    PeerTraffic traffic;
    const int ranks = communicator_.size();
    for (int i = 0; i < ranks; ++i) {
      const int other = (communicator_.rank() + i) % ranks;
      if (sends(communicator_.rank(), other)) traffic.targets.push_back(other);
      if (sends(other, communicator_.rank())) traffic.senders.push_back(other);
    }
    traffic.message_bytes = traffic_.message_bytes;
    traffic.queue = traffic_.ring.depth;
    traffic.seconds = config_.seconds;
    const auto mine = peer.run(traffic);
    const auto bytes = static_cast<double>(communicator_.sum(mine.bytes_received));
    return rate_per_rank(traffic_.connections, bytes, communicator_.max(mine.seconds));
  }

  [[nodiscard]] bool sends(int from, int to) const {
    return traffic_.connections[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] != 0;
  }

  const PatternsConfig& config_;
  const Communicator& communicator_;
  std::string pattern_;
  TrafficSettings traffic_;
  std::vector<double> rates_;
  std::vector<double> ceilings_;
  std::vector<TrafficResult> results_;
};

std::vector<ScheduleSettings> schedules_of(const PatternsConfig& config, const std::string& pattern) {
  if (!config.schedules.empty()) return config.schedules;
  std::vector<ScheduleSettings> suited{schedule_settings("round-robin", config.slot_ns)};
  if (pattern == "all-to-all" && config.slot_ns == 0) suited.push_back(schedule_settings("chaotic"));
  return suited;
}

/// Rate over message size, with a line per pattern and schedule, and the ceilings.
class RatePlot {
 public:
  /// `by_queue`: draw a separate line for each queue.
  explicit RatePlot(bool by_queue) : by_queue_(by_queue) {}

  void add(const Json& point) {
    const std::string pattern = point["pattern"];
    const double size = point["message_bytes"];
    const auto queue = by_queue_ ? ", queue " + std::to_string(point["queue"].get<int>()) : std::string();
    add(pattern + " " + point["schedule"].get<std::string>() + queue, size, point["rate_bytes_per_us"]);
    add("bare put, " + pattern, size, point["ceiling_bytes_per_us"]);
    const Json peers = point.value("peers", Json::object());
    for (const auto& [peer, rates] : peers.items()) {
      add(peer + ", " + pattern, size, rates["rate_bytes_per_us"]);
    }
  }
  [[nodiscard]] Plot plot() const { return {"Data rate per rank", "message (bytes)", "bytes/us", true, true, series_}; }

 private:
  void add(const std::string& name, double x, double y) {
    auto line = std::ranges::find(series_, name, &PlotSeries::name);
    if (line == series_.end()) line = series_.insert(series_.end(), PlotSeries{name, {}, {}});
    if (std::ranges::count(line->x, x) != 0) return;  // the ceiling of a pattern is measured again for each schedule
    line->x.push_back(x);
    line->y.push_back(y);
  }
  bool by_queue_;
  std::vector<PlotSeries> series_;
};

Plot plot_over_time(const Json& point) {
  Plot plot{"Rate over time, the last point", "time (ms)", "bytes/us", false, false, {}};
  for (const auto& c : point["connections"]) {
    PlotSeries line{std::to_string(c["from"].get<int>()) + " to " + std::to_string(c["to"].get<int>()), {}, {}};
    double ms = 0;
    for (const auto& rate : c["rate_over_time_bytes_per_us"]) {
      line.x.push_back(ms += c["bin_seconds"].get<double>() * 1000);
      line.y.push_back(rate);
    }
    plot.series.push_back(line);
  }
  return plot;
}

int measure_patterns(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = patterns_config(values, communicator);
  if (config.slow_builder >= communicator.size()) {
    throw UserError("--slow-builder: must be from 0 to " + std::to_string(communicator.size() - 1));
  }
  for (const auto& name : config.peers) parsed("peer", [&] { return make_peer(name, communicator); });
  BenchRun run("patterns", values, effective, patterns_columns(config), communicator);
  RatePlot rates(config.queues.front().has_value());
  Json last;
  std::uint64_t errors = 0;
  for (const auto& pattern : config.patterns) {
    for (const auto& schedule : schedules_of(config, pattern)) {
      for (const auto queue : config.queues) {
        for (const auto size : config.sizes) {
          last = Point(config, communicator, pattern, schedule, size, queue).measure(run.repeat());
          errors += last["verify_errors"].get<std::uint64_t>();
          rates.add(last);
          run.add(last);
        }
      }
    }
  }
  return run.finish({rates.plot(), plot_over_time(last)}, errors == 0 ? kExitOk : kExitLosses);
}

}  // namespace

int bench_patterns(int argc, const char* const* argv) {
  CommandLine line("bench patterns",
                   "bench patterns [options]\nMoves messages between all ranks in the patterns of event building; "
                   "rates are per rank, beside bare MPI_Put + MPI_Win_flush of the same messages in the same run.");
  add_patterns_options(line.options());
  BenchRun::add_options(line.options(), 5);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_patterns(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
