#include <chrono>
#include <string>

#include "app/command/launcher.hpp"
#include "app/command/options.hpp"
#include "app/command/temporary_folder.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/reply_board.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/subprocess.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kBeginNs = 30'000'000'000;
constexpr std::int64_t kPatienceNs = 2'000'000'000;
constexpr std::chrono::seconds kEndPatience{20};

struct ReplyConfig {
  ReplyBoardSettings board;
  std::vector<std::uint64_t> epochs_per_slice;
  std::uint64_t events = 0;
  std::uint64_t rate = 0;   ///< events per second
  std::uint64_t ranks = 0;  ///< ranks of the run; 0: without mpirun
  bool realtime = false;
  std::string epoch;  ///< text as typed, like the next
  std::string overlap;
};

void add_reply_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"events", text_value("N", "1000"), "events of a measurement"},
       {"rate", text_value("N", "500"), "events per second"},
       {"hits", text_value("N", "4"), "hits of an event"},
       {"epoch", text_value("TIME", "10us"), "length of an epoch"},
       {"epochs-per-slice", text_value("LIST", "1,10,100"), "epochs built together; an event waits for its slice"},
       {"overlap", text_value("TIME", "10us"), "of the run's slices; an event waits for it, too"},
       {"mark", text_value("TIME", "50us"), "idle time after which the board states up to where its data are complete"},
       {"ranks", text_value("N", "0", "0: one, without mpirun"), "ranks of the run"}});
}

ReplyConfig reply_config(const po::variables_map& values) {
  ReplyConfig config;
  config.events = count_option(values, "events", 1, 10'000'000);
  config.rate = count_option(values, "rate", 1, 50'000);
  config.ranks = count_option(values, "ranks", 0, 1000);
  config.realtime = values["realtime"].as<bool>();
  config.epoch = values["epoch"].as<std::string>();
  config.overlap = values["overlap"].as<std::string>();
  config.epochs_per_slice = counts_option(values, "epochs-per-slice", 1, 100'000);
  config.board.hits = static_cast<std::uint32_t>(count_option(values, "hits", 1, 50));
  config.board.period_ns = 1'000'000'000 / static_cast<std::int64_t>(config.rate);
  const auto time = [&](const char* option) {
    return nanoseconds_of(option, values[option].as<std::string>(), 1000, 1'000'000'000);
  };
  config.board.mark_ns = time("mark");
  auto& geometry = config.board.geometry;
  geometry.base.epoch_ticks = static_cast<std::uint32_t>(time("epoch"));
  geometry.overlap = static_cast<Tick>(time("overlap"));
  if (geometry.base.epoch_ticks > kMaxEpochTicks || geometry.base.epoch_ticks > config.board.period_ns) {
    throw UserError("--epoch must be shorter than the time between two events, and at most 524us");
  }
  return config;
}

/// Returns a port that was free at the time of the call.
std::uint16_t free_port() { return UdpEcho().port(); }

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of("\n-") + 1);
  return text.substr(text.rfind('\n') + 1);
}

Program run_of(const ReplyConfig& config, std::uint64_t epochs_per_slice, std::uint16_t board,
               const std::string& folder, Environment environment, const MemoryFile& messages) {
  Program program;
  program.environment = std::move(environment);
  program.own_group = true;
  program.ends_with_us = true;
  if (config.ranks != 0) program.words = words_to_launch(config.ranks);
  const auto exe = program_beside_this("eventloom").string();
  for (const auto& word : {exe, std::string("run"), std::string("--source"), config.board.to, std::string("--define"),
                           "gap:100ns," + std::to_string(config.board.hits), std::string("--epochs-per-slice"),
                           std::to_string(epochs_per_slice), std::string("--overlap"), config.overlap,
                           std::string("--reply"), "udp://127.0.0.1:" + std::to_string(board), std::string("--output"),
                           folder + "/run.h5", std::string("--quiet")}) {
    program.words.push_back(word);
  }
  if (config.realtime) program.words.emplace_back("--realtime");
  program.output = messages.descriptor();
  program.errors = messages.descriptor();
  return program;
}

Json point_of(const ReplyConfig& config, std::uint64_t epochs_per_slice, const ReplyTimes& times) {
  Json point = {{"epochs_per_slice", epochs_per_slice},
                {"slice_us", static_cast<double>(epochs_per_slice * config.board.geometry.base.epoch_ticks) / 1e3},
                {"ranks", config.ranks},
                {"rate", config.rate},
                {"events", times.events},
                {"lost", times.lost}};
  for (const auto& [name, latency] :
       {std::pair("loop", &times.loop), std::pair("complete", &times.complete), std::pair("echo", &times.echo)}) {
    point["latency"][name] = latency->to_json();
    if (latency->count() == 0) continue;
    point["shown"][std::string(name) + "_p50"] = latency->percentile(50) / 1e3;
    point["shown"][std::string(name) + "_p99"] = latency->percentile(99) / 1e3;
  }
  return point;
}

/// One run, and the events that a board sends to it.
ReplyTimes measure_reply(ReplyConfig config, std::uint64_t epochs_per_slice, const Environment& environment) {
  config.board.to = "udp://127.0.0.1:" + std::to_string(free_port());
  config.board.geometry.epochs_per_slice = epochs_per_slice;
  const TemporaryFolder folder("bench");
  const UdpEcho echo;
  const MemoryFile messages;
  ReplyBoard board(config.board, echo.port());
  Subprocess run(run_of(config, epochs_per_slice, board.port(), folder.path().string(), environment, messages));
  if (!board.begin(kBeginNs)) {
    run.kill();
    run.wait();
    throw UserError("the run has not replied within 30 s; its last words: " + last_line(messages.text()));
  }
  auto times = board.measure(config.events, kPatienceNs);
  board.end();
  run.wait_until(std::chrono::steady_clock::now() + kEndPatience);
  return times;
}

std::vector<BenchColumn> reply_columns() {
  return {{"slice_us", "slice", "us", 0},
          {"rate", "events", "1/s", 0},
          {"lost", "lost", "", 0},
          {"/shown/loop_p50", "hit to reply p50", "us", 0},
          {"/shown/loop_p99", "p99", "us", 0},
          {"/shown/complete_p50", "complete to reply p50", "us", 0},
          {"/shown/complete_p99", "p99", "us", 0},
          {"/shown/echo_p50", "UDP echo p50", "us", 0},
          {"/shown/echo_p99", "p99", "us", 0}};
}

int measure_replies(const po::variables_map& values, const std::string& effective, const Communicator& communicator,
                    const Environment& environment) {
  const auto config = agreed(communicator, [&] {
    if (communicator.size() != 1)
      throw UserError("bench reply starts its own runs: call it without mpirun, with --ranks N");
    return reply_config(values);
  });
  BenchRun run(kBenchOfRuns, values, effective, reply_columns(), communicator);
  PlotSeries loop{"hit to reply p50", {}, {}};
  std::uint64_t lost = 0;
  for (const auto epochs : config.epochs_per_slice) {
    for (int i = 0; i < run.repeat(); ++i) {
      const auto times = measure_reply(config, epochs, environment);
      const auto point = point_of(config, epochs, times);
      loop.x.push_back(point["slice_us"]);
      loop.y.push_back(times.loop.percentile(50) / 1e3);
      lost += times.lost;
      run.add(point);
    }
  }
  return run.finish({{"From hit to reply", "slice [us]", "us", true, true, {loop}}}, lost == 0 ? kExitOk : kExitLosses);
}

}  // namespace

int bench_reply(int argc, const char* const* argv) {
  CommandLine line(
      "bench reply",
      "bench reply [options]\nA board sends events by UDP to a run, which replies to each (run --reply): the "
      "time from hit to reply, and from the datagram that completes a slice, beside a plain UDP echo.");
  add_reply_options(line.options());
  BenchRun::add_options(line.options(), 1);
  // Taken before MPI begins: the runs are separate programs.
  const auto environment = own_environment();
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_replies(values, line.effective_config(values), communicator, environment);
  });
}

}  // namespace eventloom
