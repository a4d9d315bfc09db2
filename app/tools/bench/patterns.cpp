#include <algorithm>
#include <stdexcept>

#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/command/schedule_table.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/patterns_point.hpp"
#include "app/tools/bench/patterns_view.hpp"
#include "app/tools/bench/peers.hpp"
#include "app/tools/bench/transports.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kLongestBuildNs = 10'000'000'000;

ScheduleSettings schedule_settings(std::string name, std::uint64_t slot_ns = 0, std::string table_text = {}) {
  ScheduleSettings settings;
  settings.name = std::move(name);
  settings.slot_ns = slot_ns;
  settings.table_text = std::move(table_text);
  return settings;
}

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
       {"peer", text_value("LIST", "", "none"),
        "the same traffic, in the same run, over: mpi, zmq-ipc, zmq-tcp, udp, shm"}});
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
  config.patterns = words_of(word("pattern"));
  if (config.patterns.empty()) config.patterns = pattern_names();
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
    config.build_ns = static_cast<std::uint64_t>(nanoseconds_of("build-time", word("build-time"), 0, kLongestBuildNs));
  }
  config.peers = distinct_words(values, "peer");
  for (const auto& name : config.peers) parsed("peer", [&] { return check_peer_name(name, peer_names()); });
  return config;
}

std::vector<BenchColumn> patterns_columns(const po::variables_map& values) {
  std::vector<BenchColumn> columns = {{"pattern", "pattern", "", 0},
                                      {"schedule", "schedule", "", 0},
                                      {"message_bytes", "message", "bytes", 0},
                                      {"queue", "queue", "cells", 0},
                                      {"rate_bytes_per_us", "rate", "bytes/us", 0},
                                      {"ceiling_bytes_per_us", "bare put", "bytes/us", 0},
                                      {"share", "share", "%", 0},
                                      {"memcpy_bytes_per_us", "memcpy", "bytes/us", 0}};
  for (const auto& peer : distinct_words(values, "peer")) {
    columns.push_back({"/peers/" + peer + "/rate_bytes_per_us", peer, "bytes/us", 0});
    if (peer == "udp") columns.push_back({"/peers/udp/share_lost", "udp lost", "%", 4});
  }
  if (values["verify"].as<bool>()) columns.push_back({"verify_errors", "errors", "", 0});
  columns.insert(columns.end(), {{"retransmits", "resent", "TCP", 0},
                                 {"spread", "spread", "%", 0},
                                 {"/shown_us/p50", "p50", "us", 1},
                                 {"/shown_us/p99", "p99", "us", 1}});
  if (const auto& limit = values["limit"].as<std::string>(); !limit.empty()) {
    columns.push_back({"/message_time/share_above_limit", "> " + limit, "%", 3});
  }
  return columns;
}

std::vector<ScheduleSettings> schedules_of(const PatternsConfig& config, const std::string& pattern) {
  if (!config.schedules.empty()) return config.schedules;
  std::vector<ScheduleSettings> suited{schedule_settings("round-robin", config.slot_ns)};
  if (pattern == "all-to-all" && config.slot_ns == 0) suited.push_back(schedule_settings("chaotic"));
  return suited;
}

int measure_patterns(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = agreed(communicator, [&] { return patterns_config(values, communicator); });
  agree(communicator, [&] {
    if (config.slow_builder >= communicator.size()) {
      throw UserError("--slow-builder: must be from 0 to " + std::to_string(communicator.size() - 1));
    }
    for (const auto& name : config.peers) make_peer(name, communicator);
  });
  BenchRun run("patterns", values, effective, patterns_columns(values), communicator);
  std::uint64_t errors = 0;
  for (const auto& pattern : config.patterns) {
    for (const auto& schedule : schedules_of(config, pattern)) {
      for (const auto queue : config.queues) {
        for (const auto size : config.sizes) {
          auto point = measure_pattern(config, run, {pattern, schedule, size, queue});
          errors += point["verify_errors"].get<std::uint64_t>();
          run.add(std::move(point));
        }
      }
    }
  }
  return run.finish(patterns_plots(run.points()), errors == 0 ? kExitOk : kExitLosses);
}

}  // namespace

int bench_patterns(int argc, const char* const* argv) {
  CommandLine line("bench patterns",
                   "bench patterns [options]\nMoves messages between all ranks in the patterns of event building; "
                   "rates are per rank, beside bare MPI_Put + MPI_Win_flush of the same messages in the same run.");
  add_patterns_options(line.options());
  add_transport_options(line.options());
  BenchRun::add_time_options(line.options());
  BenchRun::add_options(line.options(), 5);
  const auto environment = own_environment();
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    const auto effective = line.effective_config(values);
    if (!over_transports(values)) return measure_patterns(values, effective, communicator);
    agreed(communicator, [&] { return patterns_config(values, communicator); });
    return bench_over_transports({"patterns", patterns_columns(values), patterns_plots}, values, effective,
                                 communicator, environment);
  });
}

}  // namespace eventloom
