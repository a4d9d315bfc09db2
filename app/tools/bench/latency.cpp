#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "app/command/common_clock.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/document/latency_histogram.hpp"
#include "app/tools/bench/bench_run.hpp"
#include "app/tools/bench/benchmarks.hpp"
#include "app/tools/bench/duplex.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/exchange/slice_assembler.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace po = boost::program_options;
using Json = nlohmann::json;

namespace {

struct LatencyConfig {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> waits;
  std::vector<std::string> places;  ///< empty: all that exist among the ranks
  std::uint64_t count = 0;
  std::uint64_t warm_up = 0;
};

constexpr std::array<std::string_view, 3> kPlaces = {"local-loop", "local-trip", "inter-node"};

void add_latency_options(po::options_description& options) {
  add_option_rows(options, {{"sizes", text_value("LIST", "8,16,32,64,128,256,512,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB"),
                             "bytes of a message, 8 or more"},
                            {"place", text_value("LIST", "", "all available"),
                             "local-loop, local-trip, inter-node; comma-separated"},
                            {"idle", text_value("LIST", "poll,yield"), "how both ends wait: poll, yield, sleep"},
                            {"count", text_value("N", "10000"), "round trips of a measurement"},
                            {"warm-up", text_value("N", "1000"), "round trips before it, reported separately"}});
}

LatencyConfig latency_config(const po::variables_map& values) {
  LatencyConfig config;
  config.sizes = sizes_option(values, "sizes", 8, 1U << 28);
  config.waits = words_of(values["idle"].as<std::string>());
  for (const auto& name : config.waits) parsed("idle", [&] { return parse_wait(name); });
  config.places = words_of(values["place"].as<std::string>());
  for (const auto& name : config.places) {
    if (std::ranges::find(kPlaces, name) == kPlaces.end()) {
      throw UserError("--place: '" + name + "' is not local-loop, local-trip or inter-node");
    }
  }
  config.count = count_option(values, "count", 1, 100'000'000);
  config.warm_up = count_option(values, "warm-up", 0, 100'000'000);
  return config;
}

std::vector<BenchColumn> latency_columns() {
  return {{"place", "place", "", 0},
          {"kind", "what", "", 0},
          {"message_bytes", "message", "bytes", 0},
          {"idle", "idle", "", 0},
          {"/shown_us/one_way_p50", "one way", "us", 2},
          {"/shown_us/one_way_p99", "p99", "us", 2},
          {"/shown_us/round_trip_p50", "round trip", "us", 2},
          {"/shown_us/round_trip_p99", "p99", "us", 2},
          {"/shown_us/round_trip_p999", "p99.9", "us", 2},
          {"/shown_us/round_trip_max", "max", "us", 1}};
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

struct Times {
  LatencyHistogram one_way;
  LatencyHistogram round_trip;
  LatencyHistogram warm_up;  ///< round trips of the warm-up
};

/// Processes a message at the far end before it answers.
class Far {
 public:
  virtual ~Far() = default;
  virtual void take(std::span<const std::byte> message) = 0;
};

class Echo final : public Far {
 public:
  void take(std::span<const std::byte>) override {}
};

constexpr TimeBase kBase{};
constexpr std::uint32_t kHits = 8;

/// Returns an epoch buffer with one event.
std::vector<std::byte> small_epoch_buffer() {
  std::vector<std::byte> bytes;
  EpochBufferEncoder encoder(0, kBase.epoch_ticks, 0, {});
  for (std::uint32_t hit = 0; hit < kHits; ++hit) encoder.add(Tick(100 + 5 * hit), hit, {});
  encoder.close(bytes);
  return bytes;
}

/// Acts as a builder: assembles the slice, decodes, sorts and defines events.
class Build final : public Far {
 public:
  Build() : assembler_(1), builder_(settings()) {}

  void take(std::span<const std::byte> message) override {
    ChunkHeader header;
    header.slice = next_.value;
    header.total_bytes = message.size();
    header.bytes = static_cast<std::uint32_t>(message.size());
    header.has_more = 1;
    assembler_.place(header, message);
    auto slice = assembler_.take(next_);
    ++next_.value;
    const SourceSlice source{slice->part(0).buffers(), {}};
    builder_.build({0}, std::span(&source, 1), built_, problems_);
    assembler_.recycle(std::move(slice));
    if (built_.front().events.size() != 1) throw std::runtime_error("bench latency: the event was not built");
  }

 private:
  static SliceBuilderSettings settings() {
    SliceBuilderSettings settings;
    settings.geometry = {.base = kBase, .epochs_per_slice = 1, .overlap = Tick(kBase.epoch_ticks), .reach = 0};
    settings.events = {{parse_event_definition("gap:25,4", kBase.tick_ps), Tick(kBase.epoch_ticks)}};
    settings.payload.resize(1);
    return settings;
  }
  SliceAssembler assembler_;
  SliceId next_{};  ///< numbers slices for the assembler; the epoch buffer always belongs to slice 0
  SliceBuilder builder_;
  std::vector<BuiltSlice> built_;
  std::vector<BuildProblem> problems_;
};

/// Round trips between rank 0 and the place's rank. The answer carries the time at which the far end finished
/// processing the message.
class PingPong {
 public:
  PingPong(const Communicator& communicator, CommonClock& clock, Place place, const std::string& wait,
           std::uint64_t largest)
      : rank_(communicator.rank()),
        place_(std::move(place)),
        clock_(clock),
        duplex_(communicator, peer(), static_cast<std::uint32_t>(largest), parse_wait(wait)) {}

  Times run(const LatencyConfig& config, std::span<const std::byte> message, Far& far) {
    Times times;
    for (std::uint64_t i = 0; i < config.warm_up + config.count; ++i) {
      if (rank_ == 0) {
        ping(times, message, i < config.warm_up, far);
      } else if (rank_ == place_.echo) {
        answer(far);
      }
    }
    duplex_.flush();
    return times;
  }

 private:
  [[nodiscard]] std::optional<int> peer() const {
    if (rank_ == 0) return place_.echo;
    return rank_ == place_.echo ? std::optional(0) : std::nullopt;
  }

  void ping(Times& times, std::span<const std::byte> message, bool warm_up, Far& far) {
    const std::int64_t start = clock_.now();
    duplex_.send(message);
    if (place_.echo == 0) answer(far);
    const auto reply = duplex_.receive();
    std::int64_t arrived = 0;
    std::memcpy(&arrived, reply.data(), sizeof arrived);
    const std::int64_t end = clock_.now();
    duplex_.release();
    if (warm_up) return times.warm_up.add(static_cast<double>(end - start));
    times.one_way.add(static_cast<double>(arrived - start));
    times.round_trip.add(static_cast<double>(end - start));
  }

  void answer(Far& far) {
    const auto message = duplex_.receive();
    far.take(message);
    const std::int64_t arrived = clock_.now();
    reply_.assign(message.begin(), message.end());
    std::memcpy(reply_.data(), &arrived, sizeof arrived);
    duplex_.release();
    duplex_.send(reply_);
  }

  int rank_;
  Place place_;
  CommonClock& clock_;
  Duplex duplex_;
  std::vector<std::byte> reply_;
};

double median_of(const std::vector<Times>& all, LatencyHistogram Times::*which, double percent) {
  std::vector<double> values;
  for (const auto& times : all) values.push_back((times.*which).percentile(percent));
  return median(values);
}

Json point_of(const std::vector<Times>& all, double precision_ns) {
  Times sum;
  for (const auto& times : all) {
    sum.one_way.add(times.one_way);
    sum.round_trip.add(times.round_trip);
    sum.warm_up.add(times.warm_up);
  }
  Json point{{"one_way", sum.one_way.to_json()},
             {"round_trip", sum.round_trip.to_json()},
             {"warm_up", sum.warm_up.to_json()},
             {"clock_precision_ns", precision_ns}};
  auto& shown = point["shown_us"];
  shown["one_way_p50"] = median_of(all, &Times::one_way, 50) / 1000;
  shown["one_way_p99"] = median_of(all, &Times::one_way, 99) / 1000;
  shown["round_trip_p50"] = median_of(all, &Times::round_trip, 50) / 1000;
  shown["round_trip_p99"] = median_of(all, &Times::round_trip, 99) / 1000;
  shown["round_trip_p999"] = median_of(all, &Times::round_trip, 99.9) / 1000;
  shown["round_trip_max"] = sum.round_trip.max() / 1000;
  return point;
}

/// All measurements of one place and one way of waiting.
class Series {
 public:
  Series(const LatencyConfig& config, BenchRun& run, CommonClock& clock, Place place, std::string wait)
      : config_(config), run_(run), clock_(clock), place_(std::move(place)), wait_(std::move(wait)) {}

  PlotSeries measure() {
    PlotSeries line{place_.name + ", " + wait_, {}, {}};
    for (const auto size : config_.sizes) {
      Echo echo;
      const Json point = measure("message", std::vector<std::byte>(size, std::byte{0x5a}), echo);
      if (point.is_null()) continue;
      line.x.push_back(static_cast<double>(size));
      line.y.push_back(point["shown_us"]["one_way_p50"]);
    }
    Build build;
    measure("built event", small_epoch_buffer(), build);
    return line;
  }

 private:
  Json measure(const std::string& kind, const std::vector<std::byte>& message, Far& far) {
    std::vector<Times> all;
    for (int i = 0; i < run_.repeat(); ++i) {
      clock_.refresh();
      PingPong ping_pong(run_.communicator(), clock_, place_, wait_, message.size());
      all.push_back(ping_pong.run(config_, message, far));
      meet(run_.communicator());
    }
    if (!run_.first()) return {};
    Json point = point_of(all, clock_.precision_ns());
    point["place"] = place_.name;
    point["kind"] = kind;
    point["message_bytes"] = message.size();
    point["idle"] = wait_;
    run_.add(point);
    return point;
  }

  const LatencyConfig& config_;
  BenchRun& run_;
  CommonClock& clock_;
  Place place_;
  std::string wait_;
};

int measure_latency(const po::variables_map& values, const std::string& effective, const Communicator& communicator) {
  const auto config = latency_config(values);
  const auto places = places_of(communicator, config.places);
  BenchRun run("latency", values, effective, latency_columns(), communicator);
  CommonClock clock(communicator);
  Plot plot{"Latency, one way, median", "message (bytes)", "us", true, true, {}};
  for (const auto& place : places) {
    for (const auto& wait : config.waits) {
      plot.series.push_back(Series(config, run, clock, place, wait).measure());
    }
  }
  return run.finish({plot}, kExitOk);
}

}  // namespace

int bench_latency(int argc, const char* const* argv) {
  CommandLine line("bench latency",
                   "bench latency [options]\nRound trips: within rank 0, between two ranks of its host, and to "
                   "another host; and the time from sending a small epoch buffer to its event built.");
  add_latency_options(line.options());
  BenchRun::add_options(line.options(), 5);
  return run_bench(line, argc, argv, [&](const po::variables_map& values, const Communicator& communicator) {
    return measure_latency(values, line.effective_config(values), communicator);
  });
}

}  // namespace eventloom
