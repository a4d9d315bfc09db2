#include <algorithm>
#include <memory>
#include <optional>

#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/command/schedule_table.hpp"
#include "app/command/temporary_folder.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/latency_plot.hpp"
#include "app/tools/bench/live_run.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/files/output_lock.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kTickPs = 1000;
constexpr std::int64_t kLongestAgeNs = 1'000'000'000'000;

struct SourcesConfig {
  std::vector<std::string> timings;
  std::vector<std::string> limits;  ///< text as typed; may include "none"
  std::vector<std::uint64_t> bunches;
  double rate = 0;  ///< hits per second of all sources together
  double seconds = 0;
  bool write = true;
  std::string output;
  LiveRunSettings run;
};

void add_hit_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"timing", text_value("LIST", "static"), "when bunches come: static, gaussian, poisson, burst"},
       {"rate", text_value("N", "20e6"), "hits per second of all sources together"},
       {"bunch", text_value("LIST", "25"), "simultaneous hits per source"},
       {"seconds", po::value<double>()->value_name("S")->default_value(0.5, "0.5"), "length of a measurement"},
       {"packet", text_value("N", "2500"), "hits at which a packet is closed, at the end of an epoch"},
       {"flush-after", text_value("TIME", "100us"),
        "age of its oldest hit at which a packet is closed, at the end of an epoch"},
       {"limit", text_value("LIST", "5ms,7ms,none"), "ages beyond which a packet is too late to be sent"},
       {"late", text_value("HOW", "drop"), "what sources do with late packets: drop, or keep (send and count)"}});
}

void add_run_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"sources", text_value("N", "0", "half of the ranks"), "number of sources"},
       {"builders", text_value("N", "0", "the other ranks"), "number of builders"},
       {"filters", text_value("N", "0", "0: builders write"), "number of filters, to which builders pass their events"},
       {"schedule", text_value("NAME", "round-robin"), "which source sends to which builder when, as in 'run'"},
       {"define", text_value("DEF", "gap:25ns,4"), "what an event is, as in 'run'"},
       {"epoch", text_value("TIME", "10us"), "length of an epoch"},
       {"epochs-per-slice", text_value("N", "10"), "epochs built together; a packet waits for its slice"},
       {"overlap", text_value("TIME", "1us"), "longest event that is kept whole"},
       {"slices-in-flight", text_value("N", "16"), "slices that a builder gathers at a time"},
       {"write", text_value("HOW", "on"), "on or off: whether builders write the events"},
       {"output", text_value("FILE", "", "temporary"),
        "prefix of the part files; each measurement overwrites the previous one"},
       {"force", po::bool_switch(), "overwrite existing part files"}});
  add_ring_options(options);
}

std::int64_t limit_of(const std::string& word) {
  if (word == "none") return 0;
  return nanoseconds_of("limit", word, 1, kLongestAgeNs);
}

bool one_of_two(const po::variables_map& values, const char* option, const std::string& yes, const std::string& no) {
  const auto word = values[option].as<std::string>();
  if (word != yes && word != no) throw UserError("--" + std::string(option) + " must be " + yes + " or " + no);
  return word == yes;
}

void read_live(const po::variables_map& values, LiveSettings& live) {
  const auto word = [&](const char* option) { return values[option].as<std::string>(); };
  live.packet = static_cast<std::uint32_t>(count_option(values, "packet", 1, 100'000'000));
  live.flush_after = static_cast<Tick>(nanoseconds_of("flush-after", word("flush-after"), 0, kLongestAgeNs));
  live.drop_late = one_of_two(values, "late", "drop", "keep");
  live.geometry.base = {kTickPs, parse_epoch_length(word("epoch"), kTickPs)};
  live.geometry.epochs_per_slice = count_option(values, "epochs-per-slice", 1, 100'000);
  live.geometry.overlap = parsed("overlap", [&] { return parse_duration(word("overlap"), kTickPs); });
}

/// Collective.
void read_wiring(const po::variables_map& values, const Collective& ranks, WiringSettings& wiring) {
  wiring.schedule.name = values["schedule"].as<std::string>();
  check_schedule(wiring.schedule.name, 0);
  wiring.schedule.table_text = schedule_table_text(wiring.schedule.name, ranks);
  wiring.in_flight.slices = static_cast<std::uint32_t>(count_option(values, "slices-in-flight", 1, 10'000));
}

/// Collective. A packet of more than one epoch is sent for several slices.
RingNeeds rings_for(const LiveRunSettings& run, const Collective& ranks) {
  constexpr double kHitBytes = 8;
  auto needs = ring_needs(ranks, run.wiring.roles);
  const auto& geometry = run.live.geometry;
  const auto ticks = static_cast<double>(geometry.slice_ticks() + 2 * geometry.margin());
  needs.message_bytes = usual_longest(run.live.hits_per_second * ticks * kTickPs * 1e-12 * kHitBytes);
  return needs;
}

/// Collective.
SourcesConfig sources_config(const po::variables_map& values, const Collective& ranks) {
  const auto word = [&](const char* option) { return values[option].as<std::string>(); };
  SourcesConfig config;
  config.timings = listed_words(values, "timing");
  for (const auto& name : config.timings) PointProcess(name, 1);
  config.limits = listed_words(values, "limit");
  for (const auto& limit : config.limits) limit_of(limit);
  config.bunches = counts_option(values, "bunch", 1, 10'000);
  config.rate = static_cast<double>(count_option(values, "rate", 1, 100'000'000'000));
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 60.0);
  config.write = one_of_two(values, "write", "on", "off");
  config.output = word("output");
  auto& run = config.run;
  read_live(values, run.live);
  read_wiring(values, ranks, run.wiring);
  run.definition = parse_event_definition(word("define"), kTickPs);
  run.live.geometry = geometry_of(run.live.geometry, {run.definition, run.live.geometry.overlap});
  auto& roles = run.wiring.roles;
  roles.ranks = ranks.size();
  roles.sources = static_cast<std::uint32_t>(count_option(values, "sources", 0, 65535));
  if (roles.sources == 0) roles.sources = static_cast<std::uint32_t>(std::max(ranks.size() / 2, 1));
  roles.builders = static_cast<std::uint32_t>(count_option(values, "builders", 0, 100'000));
  if (roles.builders == 0)
    roles.builders = static_cast<std::uint32_t>(std::max(ranks.size() - static_cast<int>(roles.sources), 1));
  roles.filters = static_cast<std::uint32_t>(count_option(values, "filters", 0, 100'000));
  run.live.hits_per_second = config.rate / roles.sources;
  run.wiring.ring = ring_size(rings_for(run, ranks), ring_options(values)).geometry();
  run.live.duration_ns = static_cast<std::int64_t>(config.seconds * 1e9);
  return config;
}

std::vector<BenchColumn> sources_columns() {
  return {{"timing", "timing", "", 0},
          {"limit", "limit", "", 0},
          {"bunch", "bunch", "hits", 0},
          {"rate_hits_per_us", "asked", "hits/us", 2},
          {"throughput_hits_per_us", "built", "hits/us", 2},
          {"share_dropped", "dropped", "%", 2},
          {"share_missed", "missed", "%", 2},
          {"/shown/received_p50", "received p50", "us", 0},
          {"/shown/received_p99", "p99", "us", 0},
          {"/shown/built_p50", "built p50", "us", 0},
          {"/shown/built_p99", "p99", "us", 0},
          {"/shown/filtered_p50", "filter p50", "us", 0},
          {"/shown/filtered_p99", "p99", "us", 0},
          {"/shown/written_p50", "written p50", "us", 0},
          {"/shown/written_p99", "p99", "us", 0}};
}

Json latencies(const LiveRunResult& result) {
  Json json{{"received", result.received.to_json()},
            {"built", result.built_at.to_json()},
            {"written", result.written.to_json()}};
  if (result.filtered.count() != 0) json["filtered"] = result.filtered.to_json();
  return json;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Counts are sums over the repeats, latencies cover all repeats, rates are medians.
Json describe(const SourcesConfig& config, const std::string& timing, const std::string& limit,
              const LiveRunResult& sum, const std::vector<double>& rates) {
  const auto& c = sum.count;
  Json latency = latencies(sum);
  Json json{{"timing", timing},
            {"limit", limit},
            {"limit_ns", limit_of(limit)},
            {"bunch", config.run.live.bunch},
            {"sources", config.run.wiring.roles.sources},
            {"builders", config.run.wiring.roles.builders},
            {"filters", config.run.wiring.roles.filters},
            {"rate_hits_per_us", config.rate / 1e6},
            {"throughput_hits_per_us", median(rates)},
            {"throughputs_hits_per_us", rates},
            {"seconds", sum.seconds},
            {"hits_planned", c.made + c.missed},
            {"hits_missed", c.missed},
            {"hits_made", c.made},
            {"hits_sent", c.sent},
            {"hits_dropped", c.dropped},
            {"hits_late", c.late},
            {"hits_built", sum.built},
            {"events", sum.events},
            {"packets", c.packets},
            {"making_behind_ns", c.behind_ns},
            {"share_dropped", share(c.dropped, c.made)},
            {"share_missed", share(c.missed, c.made + c.missed)},
            {"damaged_packets", sum.problems},
            {"balanced", sum.balances()},
            {"clock_error_ns", sum.clock_error_ns}};
  json["shown"] = Json::object();
  for (const auto& [point, of] : latency.items()) {
    for (const char* p : {"p50", "p99"}) {
      const auto& ns = of[std::string(p) + "_ns"];
      if (!ns.is_null()) json["shown"][point + "_" + p] = ns.get<double>() / 1000;
    }
  }
  json["latency"] = std::move(latency);
  return json;
}

std::string imbalance(const LiveRunResult& r) {
  return "the account does not balance: " + std::to_string(r.count.made) + " hits made, " +
         std::to_string(r.count.sent) + " sent, " + std::to_string(r.count.dropped) + " dropped; builders have " +
         std::to_string(r.built) + " and were notified of " + std::to_string(r.dead) + " dropped; " +
         std::to_string(r.problems) + " damaged packets, " + std::to_string(r.lost_packets) +
         " in slices that were not built";
}

/// Collective. Returns whether the account of the hits balances.
bool measure_sources_of(SourcesConfig& config, const std::string& timing, const std::string& limit, BenchRun& run,
                        LatencyPlot& plot) {
  config.run.live.timing = timing;
  config.run.live.limit_ns = limit_of(limit);
  LiveRunResult sum;
  std::vector<double> rates;
  for (int i = 0; i < run.repeat(); ++i) {
    const auto result = run_live(config.run, run.communicator());
    rates.push_back(result.seconds > 0 ? static_cast<double>(result.built) / (result.seconds * 1e6) : 0);
    sum.add(result);
  }
  const auto point = describe(config, timing, limit, sum, rates);
  plot.add(point);
  run.add(point);
  if (!sum.balances()) run.note(imbalance(sum));
  return sum.balances();
}

int measure_sources(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  auto config = agreed(communicator, [&] { return sources_config(values, communicator); });
  std::unique_ptr<OutputLock> lock;
  agree(communicator, [&] {
    const bool writes = config.write && !config.output.empty();
    if (writes && communicator.rank() == 0) lock = std::make_unique<OutputLock>(config.output);
  });
  BenchRun run("sources", values, effective, sources_columns(), communicator);
  std::optional<TemporaryFolder> folder;
  agree(communicator, [&] {
    if (config.write && config.output.empty()) folder.emplace("bench");
  });
  if (config.write) config.run.output = folder ? folder->file("sources.h5") : config.output;
  LatencyPlot plot;
  bool balanced = true;
  for (const auto& timing : config.timings) {
    for (const auto& limit : config.limits) {
      for (const auto bunch : config.bunches) {
        config.run.live.bunch = static_cast<std::uint32_t>(bunch);
        balanced = measure_sources_of(config, timing, limit, run, plot) && balanced;
      }
    }
  }
  return run.finish({plot.plot()}, balanced ? kExitOk : kExitLosses);
}

}  // namespace

int bench_sources(int argc, const char* const* argv) {
  CommandLine line(
      "bench sources",
      "bench sources [options]\nSources make hits in real time, independently of the exchange; how long packets "
      "take until they are received, built, passed to a filter and written, and which are late.");
  add_hit_options(line.options());
  add_run_options(line.options());
  BenchRun::add_options(line.options(), 1);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_sources(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
