#include <algorithm>
#include <cstring>

#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/traffic.hpp"
#include "core/runtime/error.hpp"
#include "core/transport/mpi_rma_transport.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace po = boost::program_options;
using Json = nlohmann::json;

namespace {

struct ScanConfig {
  std::vector<std::string> parts;
  std::vector<std::uint64_t> depths;
  std::vector<std::uint64_t> cells;
  std::uint64_t message_bytes = 0;  ///< message size of the parts "clients" and "breakdown"
  std::uint64_t memory = 0;
  double seconds = 0;
};

const std::vector<std::string> kParts = {"rings", "clients", "breakdown"};

void add_scan_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"what", text_value("LIST", "rings,clients,breakdown"),
        "rings: depth and cell size, one to one; clients: many to one; breakdown: steps of the path"},
       {"depths", text_value("LIST", "1,2,4,8,16,32,64"), "cells in a ring"},
       {"cells", text_value("LIST", "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,32MiB"), "bytes of a cell, and of a message"},
       {"message", text_value("BYTES", "16KiB"), "bytes of a message for clients and breakdown"},
       {"memory", text_value("BYTES", "512MiB"), "larger rings are skipped"},
       {"seconds", po::value<double>()->value_name("S")->default_value(0.05, "0.05"), "length of a measurement"}});
}

ScanConfig scan_config(const po::variables_map& values) {
  ScanConfig config;
  config.parts = words_of(values["what"].as<std::string>());
  for (const auto& part : config.parts) {
    if (std::ranges::count(kParts, part) == 0)
      throw UserError("--what: no part '" + part + "'; known are: rings, clients, breakdown");
  }
  config.depths = counts_option(values, "depths", 1, 65536);
  config.cells = sizes_option(values, "cells", 256, 1U << 30);
  config.message_bytes = sizes_option(values, "message", 1, 1U << 30).front();
  config.memory = sizes_option(values, "memory", 1, std::uint64_t{1} << 40).front();
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 3600.0);
  return config;
}

std::vector<BenchColumn> scan_columns() {
  return {{"part", "part", "", 0},
          {"what", "what", "", 0},
          {"message_bytes", "message", "bytes", 0},
          {"queue", "ring", "cells", 0},
          {"rate_bytes_per_us", "rate", "bytes/us", 0},
          {"ceiling_bytes_per_us", "bare put", "bytes/us", 0},
          {"share", "share", "%", 0},
          {"per_client_bytes_per_us", "a client", "bytes/us", 0},
          {"ns", "time", "ns", 1}};
}

/// A message of the size of a cell fills it; larger cells would batch small messages.
std::uint32_t cell_for(std::uint64_t message) { return static_cast<std::uint32_t>((message + 63) / 64 * 64 + 64); }

TrafficSettings one_to_one(const ScanConfig& config, int ranks, std::uint64_t message, std::uint64_t depth) {
  TrafficSettings traffic;
  traffic.connections = connections_of("one-to-one", ranks);
  traffic.schedule.name = "round-robin";
  traffic.ring = {static_cast<std::uint32_t>(depth), cell_for(message)};
  traffic.message_bytes = message;
  traffic.limits = {.seconds = config.seconds, .slices = 0};
  return traffic;
}

/// Collective. Uses rings as in a run: a cell holds several small messages.
TrafficSettings batched_one_to_one(const ScanConfig& config, const Communicator& communicator) {
  auto traffic = one_to_one(config, communicator.size(), config.message_bytes, 1);
  traffic.ring = ring_for(traffic, communicator, {});
  return traffic;
}

struct Rates {
  double rate = 0;
  double ceiling = 0;
};

/// Returns medians. Measures the ceiling and the exchange alternately.
Rates measure_rates(const TrafficSettings& traffic, const BenchRun& run) {
  std::vector<double> rates;
  std::vector<double> ceilings;
  for (int i = 0; i < run.repeat(); ++i) {
    ceilings.push_back(bare_put_rate(traffic, run.communicator()));
    const auto result = run_traffic(traffic, run.communicator());
    rates.push_back(rate_per_rank(traffic.connections, static_cast<double>(result.bytes()), result.seconds));
  }
  return {median(rates), median(ceilings)};
}

Json point_of(const std::string& part, const std::string& what, const TrafficSettings& traffic, Rates rates) {
  return {{"part", part},
          {"what", what},
          {"message_bytes", traffic.message_bytes},
          {"queue", traffic.ring.depth},
          {"rate_bytes_per_us", rates.rate},
          {"ceiling_bytes_per_us", rates.ceiling},
          {"share", rates.rate / rates.ceiling}};
}

void scan_rings(const ScanConfig& config, BenchRun& run, std::vector<PlotSeries>& lines) {
  std::uint64_t left_out = 0;
  for (const auto depth : config.depths) {
    PlotSeries line{"ring of " + std::to_string(depth), {}, {}};
    for (const auto cell : config.cells) {
      if (depth * cell > config.memory) {
        ++left_out;
        continue;
      }
      const auto traffic = one_to_one(config, run.communicator().size(), cell, depth);
      const Rates rates = measure_rates(traffic, run);
      run.add(point_of("rings", "one to one", traffic, rates));
      line.x.push_back(static_cast<double>(cell));
      line.y.push_back(rates.rate);
    }
    if (!line.x.empty()) lines.push_back(line);
  }
  if (left_out != 0) run.note(std::to_string(left_out) + " rings larger than --memory skipped");
}

/// Ranks 1 to k send to rank 0, for increasing k.
void scan_clients(const ScanConfig& config, BenchRun& run) {
  const int ranks = run.communicator().size();
  for (int clients = 1; clients < ranks; ++clients) {
    auto traffic = batched_one_to_one(config, run.communicator());
    for (int from = 0; from < ranks; ++from) {
      auto& targets = traffic.connections[static_cast<std::size_t>(from)];
      std::ranges::fill(targets, std::uint8_t{0});
      if (from >= 1 && from <= clients) targets[0] = 1;
    }
    const Rates rates = measure_rates(traffic, run);
    Json point = point_of("clients", std::to_string(clients) + " to 1", traffic, rates);
    point["clients"] = clients;
    point["per_client_bytes_per_us"] = rates.rate / clients;
    run.add(point);
  }
}

/// Returns the time of one step in ns, the median over several loops. `loop` repeats the step `n` times.
template <class Loop>
double step_ns(int n, Loop loop) {
  std::vector<double> ns;
  for (int i = 0; i < 11; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loop(n);
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n);
  }
  return median(ns);
}

/// The steps of one message's path to the window of rank `to`, each measured separately on this rank.
class Breakdown {
 public:
  Breakdown(Transport& transport, int to, std::uint64_t message)
      : transport_(transport), to_(to), message_(message), staging_(message), notes_(64) {}

  std::vector<std::pair<std::string, double>> measure() {
    std::vector<std::pair<std::string, double>> steps;
    const std::span<const std::byte> note(notes_);
    steps.emplace_back("send: copy to staging", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) copy();
                       }));
    steps.emplace_back("send: checksum of the body", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) keep(crc32c(message_));
                       }));
    steps.emplace_back("send: header", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i)
                           ChunkHeader{.slice = static_cast<std::uint64_t>(i)}.store(notes_.data(), 1);
                       }));
    steps.emplace_back("send: MPI_Put of the body", step_ns(500, [&](int n) { put(message_, n, n); }));
    steps.emplace_back("send: MPI_Put of 16 bytes", step_ns(500, [&](int n) { put(note.first(16), n, n); }));
    steps.emplace_back("send: MPI_Put of 16 bytes + MPI_Win_flush",
                       step_ns(500, [&](int n) { put(note.first(16), n, 1); }));
    steps.emplace_back("receive: look for a descriptor in vain", step_ns(2000, [&](int n) {
                         RingConsumer ring({transport_, transport_}, to_, 0, 0, {8, 4096});
                         for (int i = 0; i < n; ++i) keep(ring.poll().has_value() ? 1 : 0);
                       }));
    steps.emplace_back("receive: MPI_Win_sync", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) transport_.sync();
                       }));
    steps.emplace_back("receive: header", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) keep(ChunkHeader::load(notes_.data(), 1).has_value() ? 1 : 0);
                       }));
    steps.emplace_back("either: progress (MPI_Iprobe)", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) transport_.progress();
                       }));
    return steps;
  }

 private:
  static void keep(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }
  void copy() {
    std::memcpy(staging_.data(), message_.data(), message_.size());
    asm volatile("" : : "r"(staging_.data()) : "memory");
  }
  void put(std::span<const std::byte> data, int n, int between_flushes) {
    for (int i = 1; i <= n; ++i) {
      transport_.put(to_, kSafeOffset, data);
      if (i % between_flushes == 0) transport_.flush(to_);
    }
  }

 public:
  /// Puts start beyond the offsets at which receivers look for descriptors.
  static constexpr std::uint64_t kSafeOffset = 4096;

 private:
  Transport& transport_;
  int to_;
  std::vector<std::byte> message_;
  std::vector<std::byte> staging_;
  std::vector<std::byte> notes_;
};

void break_down(const ScanConfig& config, BenchRun& run) {
  const auto& communicator = run.communicator();
  MpiRmaTransport transport(communicator, Breakdown::kSafeOffset + config.message_bytes);
  if (run.first()) {
    const int to = communicator.size() > 1 ? 1 : 0;
    for (const auto& [step, ns] : Breakdown(transport, to, config.message_bytes).measure()) {
      run.add({{"part", "breakdown"}, {"what", step}, {"message_bytes", config.message_bytes}, {"ns", ns}});
    }
  }
  meet(communicator);
  const auto traffic = batched_one_to_one(config, communicator);
  const Rates rates = measure_rates(traffic, run);
  Json point = point_of("breakdown", "all: one message through the exchange", traffic, rates);
  point["ns"] = static_cast<double>(config.message_bytes) / rates.rate * 1000;
  run.add(point);
}

int measure_scan(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = scan_config(values);
  BenchRun run("scan", values, effective, scan_columns(), communicator);
  const auto wanted = [&](const std::string& part) { return std::ranges::count(config.parts, part) != 0; };
  Plot plot{"Rate, one to one", "cell (bytes)", "bytes/us", true, true, {}};
  if (wanted("rings")) scan_rings(config, run, plot.series);
  if (wanted("clients")) scan_clients(config, run);
  if (wanted("breakdown")) break_down(config, run);
  return run.finish({plot}, kExitOk);
}

}  // namespace

int bench_scan(int argc, const char* const* argv) {
  CommandLine line(
      "bench scan",
      "bench scan [options]\nRing depth and cell size, many clients to one server, and where the time of a "
      "message goes, beside bare MPI_Put + MPI_Win_flush in the same run.");
  add_scan_options(line.options());
  BenchRun::add_options(line.options(), 3);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_scan(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
