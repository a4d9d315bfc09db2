#include <algorithm>
#include <utility>

#include "app/command/mpi_command.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/breakdown.hpp"
#include "app/tools/bench/containers.hpp"
#include "app/tools/bench/put_memory.hpp"
#include "app/tools/bench/scan_config.hpp"
#include "app/tools/bench/scan_view.hpp"
#include "app/tools/bench/traffic.hpp"
#include "core/runtime/format.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

std::vector<BenchColumn> scan_columns() {
  return {{"part", "part", "", 0},
          {"what", "what", "", 0},
          {"message_bytes", "message", "bytes", 0},
          {"queue", "ring", "cells", 0},
          {"read", "read", "", 0},
          {"access", "access", "", 0},
          {"rate_bytes_per_us", "rate", "bytes/us", 0},
          {"ceiling_bytes_per_us", "bare put", "bytes/us", 0},
          {"share", "share", "%", 0},
          {"per_client_bytes_per_us", "a client", "bytes/us", 0},
          {"ns", "time", "ns", 1},
          {"bytes_per_hit", "a hit", "bytes", 2},
          {"encode_ns", "encode", "ns/hit", 2},
          {"decode_ns", "decode", "ns/hit", 2}};
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

/// Depth and cell size, for one way of reading; returns the number of rings that were too large.
std::uint64_t scan_rings(const ScanConfig& config, const Reading& reading, BenchRun& run) {
  std::uint64_t left_out = 0;
  for (const auto depth : config.depths) {
    for (const auto cell : config.cells) {
      if (depth * cell > config.memory) {
        ++left_out;
        continue;
      }
      auto traffic = one_to_one(config, run.communicator().size(), cell, depth);
      traffic.receive = reading.receive;
      auto point = point_of("rings", "one to one", traffic, measure_rates(traffic, run));
      point["read"] = reading.read;
      point["access"] = reading.access;
      run.add(std::move(point));
    }
  }
  return left_out;
}

void scan_rings(const ScanConfig& config, BenchRun& run) {
  std::uint64_t left_out = 0;
  for (const auto& reading : config.readings) left_out += scan_rings(config, reading, run);
  if (left_out != 0) run.note(std::to_string(left_out) + " rings larger than --memory skipped");
}

/// Each rank sends to itself, all at the same time.
void scan_loopback(const ScanConfig& config, BenchRun& run) {
  constexpr std::uint64_t kLoopbackCells = 8;
  const auto ranks = static_cast<std::size_t>(run.communicator().size());
  for (const auto cell : config.cells) {
    if (kLoopbackCells * cell > config.memory) {
      run.note(fmt::format("loopback: ring of {} bytes skipped, larger than --memory", kLoopbackCells * cell));
      continue;
    }
    auto traffic = one_to_one(config, run.communicator().size(), cell, kLoopbackCells);
    traffic.connections.assign(ranks, std::vector<std::uint8_t>(ranks, 0));
    for (std::size_t rank = 0; rank < ranks; ++rank) traffic.connections[rank][rank] = 1;
    auto point = point_of("loopback", "each rank to itself", traffic, measure_rates(traffic, run));
    point["memcpy_bytes_per_us"] = memcpy_rate(traffic, config.seconds);
    run.add(std::move(point));
  }
}

/// Rank 0 puts to rank 1, or to itself.
void scan_memory(const ScanConfig& config, BenchRun& run) {
  const auto largest = *std::ranges::max_element(config.cells);
  MpiRmaTransport transport(run.communicator(), largest);
  const int to = run.communicator().size() > 1 ? 1 : 0;
  for (const auto bytes : config.cells) {
    for (const auto& [name, state] : {std::pair("warm", PutMemory::warm), std::pair("cold", PutMemory::cold)}) {
      if (!run.first()) continue;
      const double ns = put_ns(transport, to, bytes, state, config.seconds);
      run.add({{"part", "memory"},
               {"what", name},
               {"message_bytes", bytes},
               {"ns", ns},
               {"rate_bytes_per_us", static_cast<double>(bytes) / ns * 1000}});
    }
  }
  meet(run.communicator());
}

void compare_containers(const ScanConfig& config, BenchRun& run) {
  if (!run.first()) return;
  for (const auto& container : measure_containers(config.hits, config.hit_distance, run.repeat())) {
    run.add({{"part", "containers"},
             {"what", container.name},
             {"hits", config.hits},
             {"bytes", container.bytes},
             {"bytes_per_hit", static_cast<double>(container.bytes) / static_cast<double>(config.hits)},
             {"encode_ns", container.encode_ns},
             {"decode_ns", container.decode_ns}});
  }
}

/// Ranks 1 to k send to rank 0, for increasing k.
void scan_clients(const ScanConfig& config, BenchRun& run) {
  const int ranks = run.communicator().size();
  if (ranks == 1) run.note("clients skipped: there is only one rank");
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

void break_down(const ScanConfig& config, BenchRun& run) {
  const auto& communicator = run.communicator();
  MpiRmaTransport transport(communicator, kStepOffset + config.message_bytes);
  if (run.first()) {
    const int to = communicator.size() > 1 ? 1 : 0;
    for (const auto& [step, ns] : measure_steps(transport, to, config.message_bytes)) {
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
  const auto config = agreed(communicator, [&] { return scan_config(values); });
  BenchRun run("scan", values, effective, scan_columns(), communicator);
  const auto wanted = [&](const std::string& part) { return std::ranges::count(config.parts, part) != 0; };
  if (wanted("rings")) scan_rings(config, run);
  if (wanted("clients")) scan_clients(config, run);
  if (wanted("breakdown")) break_down(config, run);
  if (wanted("loopback")) scan_loopback(config, run);
  if (wanted("memory")) scan_memory(config, run);
  if (wanted("containers")) compare_containers(config, run);
  return run.finish(scan_plots(run.points()), kExitOk);
}

}  // namespace

int bench_scan(int argc, const char* const* argv) {
  CommandLine line(
      "bench scan",
      "bench scan [options]\nRing depth, cell size and ways of reading, many clients to one server, where the time "
      "of a message goes, loopback, cold memory, containers of hits; beside bare MPI_Put + MPI_Win_flush.");
  add_scan_options(line.options());
  BenchRun::add_options(line.options(), 3);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_scan(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
