#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "app/command_line.hpp"
#include "app/mpi_command.hpp"
#include "app/rank_run.hpp"
#include "app/run_config.hpp"
#include "app/run_report.hpp"
#include "app/run_setup.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/hdf5/run_file.hpp"

namespace eventloom {

namespace {

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void tell_exchange(const ExchangeBackend& backend) {
  spdlog::info("exchange: osc {}, pml {}, UCX transports {}", backend.osc, backend.pml, backend.transports);
  if (!backend.is_ucx) {
    spdlog::warn("the exchange does not run over UCX: OMPI_MCA_osc or an MCA parameter file chose '{}'", backend.osc);
  }
}

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

RunRecord describe(const RunConfig& config, const RunSetup& setup) {
  RunRecord record;
  record.setup = config.effective;
  record.definition = config.define;
  record.filters = config.filter;
  record.eventloom_version = EVENTLOOM_VERSION;
  record.mpi_version = MpiEnvironment::mpi_version();
  record.ucx_version = MpiEnvironment::ucx_version();
  record.hosts = distinct(setup.hosts);
  record.base = setup.meaning.geometry.base;
  record.epochs_per_slice = setup.meaning.geometry.epochs_per_slice;
  record.overlap = setup.meaning.geometry.overlap;
  record.with_payload = setup.with_payload;
  record.numbered = setup.numbered;
  for (const auto& s : setup.sources) {
    record.sources.push_back({s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.text});
  }
  return record;
}

void conclude(RunRecord& record, const RunResult& result) {
  record.closed = true;
  record.totals = result.totals;
}

/// What --save-sorted leaves beside its streams.
void write_manifest(const RunConfig& config, const RunSetup& setup, const RunResult& result) {
  SortedManifest manifest;
  manifest.base = setup.meaning.geometry.base;
  manifest.definition = to_text(setup.meaning.definition);
  manifest.overlap = setup.meaning.geometry.overlap;
  manifest.bin_ticks = histogram_ticks(setup.meaning);
  manifest.anomalies = result.totals.anomalies;
  for (const auto& s : setup.sources) {
    manifest.sources.push_back(
        {s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.flags, s.payload.any(), s.text});
  }
  manifest.files = result.sorted_files;
  manifest.damage = result.sorted_damage;
  std::ranges::sort(manifest.files, {}, &SortedFile::builder);
  std::ranges::stable_sort(manifest.damage, {}, &Damage::first_epoch);
  write_sorted_manifest(config.save_sorted, manifest);
}

/// Rank 0 alone: writes what remains to be written and tells people.
void finish(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
            const ExchangeBackend& backend) {
  conclude(record, result);
  write_run_file(config.output, record, result.parts);
  if (!config.save_sorted.empty()) write_manifest(config, setup, result);
  if (!config.report_json.empty()) write_report_json(config, setup, result, backend);
  print_summary(std::cout, config, setup, result);
  for (const auto& wrong : imbalances(result)) spdlog::error("the ledger does not balance: {}", wrong);
}

/// Rank 0 alone: clears the way, so that a folder that cannot be written shows before the work.
void begin(const RunConfig& config, const RunRecord& record) {
  remove_old_run(config.output);
  if (!config.save_sorted.empty()) prepare_sorted_folder(config.save_sorted);
  write_run_file(config.output, record, {});
}

RunResult build_events(const RunConfig& config, RunSetup& setup, Wiring& wiring, const Communicator& communicator) {
  const auto start = std::chrono::steady_clock::now();
  RunResult mine;
  try {
    RankRun rank_run(config, setup, wiring, communicator);
    rank_run.work();
    mine = rank_run.close();
  } catch (const UserError& e) {
    // The other ranks are in the middle of their work and cannot be asked.
    std::cerr << "eventloom run: " << e.what() << std::endl;
    MpiEnvironment::abort(kExitUsage);
  }
  mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  mine.peak_rss_bytes = peak_rss_bytes();
  return add_up(mine, communicator);
}

int run(const RunConfig& config, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  const auto backend = exchange_backend();
  RunSetup setup = set_up_run(config, communicator);
  if (first) tell_exchange(backend);
  Wiring wiring(wiring_settings(config, setup), communicator);
  RunRecord record = describe(config, setup);
  agree(communicator, [&] {
    if (first) begin(config, record);
  });
  const RunResult result = build_events(config, setup, wiring, communicator);
  agree(communicator, [&] {
    if (first) finish(config, setup, result, record, backend);
  });
  return exit_code_of(result);
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  return run_inside_mpi<RunConfig>(
      "run", [&] { return parse_run_config(argc, argv); }, run);
}

}  // namespace eventloom
