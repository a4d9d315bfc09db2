#include "core/simulation/simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <memory>
#include <random>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>

#include "core/definitions/definitions.hpp"
#include "core/engine/session.hpp"
#include "core/fabric/link_load.hpp"
#include "core/simulation/actors.hpp"
#include "core/simulation/host_routes.hpp"
#include "core/simulation/length_source.hpp"
#include "core/simulation/loaded_platform.hpp"
#include "core/simulation/port.hpp"
#include "core/simulation/simulated_rank.hpp"

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

constexpr std::size_t kLinksNamed = 5;
constexpr std::uint32_t kPairPatterns = 100;
constexpr double kLargestOffset = 1e-3;  ///< maximum offset of a drifting clock
/// Consecutive idle waits per rank without any arrival that occur only if the program is stuck.
constexpr std::uint64_t kMostIdleWaits = 1'000'000;

/// Uniform in [0, 1); a function of its arguments alone.
double uniform_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::seed_seq numbers{seed, seed >> 32, a, b, b >> 32};
  std::array<std::uint32_t, 2> bits{};
  numbers.generate(bits.begin(), bits.end());
  return (static_cast<double>(bits[0] >> 5) * 67108864.0 + static_cast<double>(bits[1] >> 6)) / 9007199254740992.0;
}

/// Independent random sequences of one simulation.
enum Draw : std::uint64_t { kSize = 1, kBuild, kDrift, kOffset, kNoise, kDelay };

/// Exponentially distributed with mean 1, given a uniform number in [0, 1).
double exponential(double uniform) { return -std::log1p(-uniform); }

double factor_of(const std::vector<OfNode>& all, std::uint32_t node) {
  double factor = 1;
  for (const auto& of : all) {
    if (of.node == node) factor *= of.factor;
  }
  return factor;
}

Roles roles_of(const SimulationSettings& settings) {
  const auto ranks = settings.ranks();
  return {.sources = ranks, .builders = ranks, .filters = 0, .ranks = static_cast<int>(ranks)};
}

SessionSettings session_settings(const SimulationSettings& settings) {
  SessionSettings session;
  session.wiring.roles = roles_of(settings);
  session.wiring.ring = settings.ring;
  session.wiring.bodies = Bodies::counted;
  session.wiring.schedule.name = settings.schedule;
  session.wiring.schedule.table_text = settings.table_text;
  session.wiring.schedule.slot_ns = settings.slot_ns;
  session.wiring.in_flight = {settings.slices_in_flight, settings.transfers_in_flight};
  // Nothing is built from the data, but a builder needs a definition.
  session.building.geometry = {.base = {}, .epochs_per_slice = 1, .overlap = 0, .reach = 0};
  session.building.events = {{parse_event_definition("gap:1,1", session.building.geometry.base.tick_ps), 0}};
  session.building.payload.resize(settings.ranks());
  return session;
}

/// Time between redistributions of the links: about kTimes of them while a slice arrives at full rate.
double sharing_interval(const SimulationSettings& settings, const FabricRoutes& routes) {
  constexpr double kTimes = 5'000;
  if (routes.rates.empty()) return 0;
  const double slice_bytes = static_cast<double>(settings.message_bytes) * settings.ranks();
  return slice_bytes / std::ranges::max(routes.rates) / kTimes;
}

class NoSink final : public EventSink {
 public:
  void write(const BuiltSlice&) override {}
};

/// Totals shared by all ranks.
struct Account {
  explicit Account(std::uint32_t ranks)
      : sent(std::size_t{ranks} * ranks), delivered(std::size_t{ranks} * ranks), pieces(ranks) {}

  double begin = 0;
  double end = 0;
  std::uint64_t messages = 0;
  std::vector<std::uint64_t> sent;       ///< [source][builder]
  std::vector<std::uint64_t> delivered;  ///< [source][builder]
  std::uint64_t idle_waits = 0;          ///< consecutive ones
  BuiltPieces pieces;
};

/// The session of one rank.
class SimulatedSession final : SessionEnds {
 public:
  SimulatedSession(const SimulationSettings& settings, MeetingPlace& place, Fabric& fabric, std::uint32_t rank,
                   Account& account)
      : settings_(settings),
        place_(place),
        fabric_(fabric),
        port_(*fabric.ports[rank]),
        number_(rank),
        account_(account),
        rank_(place, port_, static_cast<int>(rank), clock()) {}

  void play() {
    Session session(session_settings(settings_), {rank_, rank_, rank_, rank_.clock()});
    session.begin(*this, sources());
    rank_.set_reason([&] { return reason(session); });
    port_.set_on_nothing([this] { count_idle_wait(); });
    place_.meet();
    port_.begin_account();
    if (number_ == 0) {
      auto* clock = session.wiring().clock();
      account_.begin = Port::now() - (clock == nullptr ? 0 : static_cast<double>(clock->since_start()) / 1e9);
    }
    session.run();
    add_sent(session);
  }

 private:
  [[nodiscard]] std::uint32_t node() const { return number_ / settings_.ranks_per_node; }

  [[nodiscard]] RankClock clock() const {
    if (settings_.clock_drift == 0) return {};
    const auto draw = [&](Draw what) { return 2 * uniform_of(settings_.seed, what, number_) - 1; };
    return {draw(kOffset) * kLargestOffset, draw(kDrift) * settings_.clock_drift};
  }

  std::vector<EventSink*> sinks_of(std::uint32_t /*writer*/) override { return {&sink_}; }
  void report(const BuildProblem& problem) override { throw std::logic_error("simulated data: " + problem.reason); }

  std::vector<LocalSource> sources() {
    LengthSource::Settings source;
    source.end = Epoch(settings_.slices * settings_.ranks());
    source.length = [this](Epoch epoch) { return length(epoch); };
    source.make = [this](std::uint64_t bytes) {
      port_.work_for(source_seconds(static_cast<double>(bytes)), Spent::sources);
    };
    std::vector<LocalSource> local;
    local.push_back({SourceId{static_cast<std::uint16_t>(number_)},
                     std::make_unique<LengthSource>(fabric_.blank, std::move(source))});
    return local;
  }

  [[nodiscard]] std::uint64_t length(Epoch epoch) const {
    if (settings_.spread == 0) return settings_.message_bytes;
    const double deviation =
        settings_.spread * (2 * uniform_of(settings_.seed, kSize + std::uint64_t{16} * number_, epoch.value) - 1);
    const auto bytes = std::llround(static_cast<double>(settings_.message_bytes) * (1 + deviation));
    return static_cast<std::uint64_t>(std::max(bytes, 1LL));
  }

  [[nodiscard]] double source_seconds(double bytes) {
    const double seconds = settings_.message_cost + (settings_.source_rate > 0 ? bytes / settings_.source_rate : 0);
    if (settings_.noise == 0) return seconds;
    return seconds +
           settings_.noise * exponential(uniform_of(settings_.seed, kDelay + std::uint64_t{16} * number_, messages_++));
  }

  void stand_in(BuilderId builder, SliceId slice, const SliceAssembly& input) override {
    std::uint64_t bytes = 0;
    for (std::uint32_t s = 0; s < settings_.ranks(); ++s) {
      const auto of_source = input.part(s).total_bytes;
      account_.delivered[s * settings_.ranks() + builder.value] += of_source;
      account_.pieces.add(s, builder.value, of_source);
      bytes += of_source;
    }
    account_.idle_waits = 0;
    port_.work_for(build_seconds(slice, static_cast<double>(bytes)), Spent::builders);
    account_.end = std::max(account_.end, Port::now());
  }

  [[nodiscard]] double build_seconds(SliceId slice, double bytes) const {
    double seconds = settings_.build_rate > 0 ? bytes / settings_.build_rate : 0;
    seconds *= factor_of(settings_.slow_builders, node());
    if (settings_.jitter == 0) return seconds;
    const double late = exponential(uniform_of(settings_.seed, kBuild, slice.value));
    return seconds + settings_.jitter * late * bytes / settings_.link_rate;
  }

  /// Why the rank has no work.
  [[nodiscard]] static Spent reason(const Session& session) {
    const auto* sources = session.sources();
    if (sources == nullptr || sources->done()) return Spent::idle;
    return sources->due() == SteadyTime::max() ? Spent::credits : Spent::slots;
  }

  void count_idle_wait() {
    if (++account_.idle_waits > kMostIdleWaits * settings_.ranks()) {
      throw std::logic_error("no rank makes progress, though all of them wait");
    }
  }

  void add_sent(const Session& session) {
    RankRecord record;
    session.sources()->report().add_to(record);
    account_.messages += record.counters[Metric::messages];
    for (const auto& [builder, link] : record.links) account_.sent[number_ * settings_.ranks() + builder] += link.bytes;
  }

  const SimulationSettings& settings_;
  MeetingPlace& place_;
  Fabric& fabric_;
  Port& port_;
  std::uint32_t number_;
  Account& account_;
  SimulatedRank rank_;
  std::uint64_t messages_ = 0;  ///< messages made by its source
  NoSink sink_;
};

/// The whole run.
class Run {
 public:
  Run(const SimulationSettings& settings, const std::vector<s4u::Host*>& hosts, const FabricRoutes& routes)
      : settings_(settings),
        hosts_(hosts),
        routes_(routes),
        blank_(2 * settings.message_bytes, SparseMemory::Access::read),
        fabric_{{}, {routes, sharing_interval(settings, routes)}, blank_, settings.clock_noise, settings.streams, {}},
        place_(static_cast<int>(settings.ranks())),
        account_(settings.ranks()) {
    const auto ranks = settings_.ranks();
    for (std::uint32_t r = 0; r < ranks; ++r) {
      fabric_.ports.push_back(std::make_unique<Port>(fabric_, static_cast<int>(r), node_of(r), hosts_[node_of(r)],
                                                     settings_.seed + (std::uint64_t{kNoise} << 32) + r));
    }
    for (std::uint32_t r = 0; r < ranks; ++r) {
      sessions_.push_back(std::make_unique<SimulatedSession>(settings_, place_, fabric_, r, account_));
    }
  }

  SimulationResult play(s4u::Engine& engine) {
    for (std::uint32_t r = 0; r < sessions_.size(); ++r) {
      start_actor("rank-" + std::to_string(r), hosts_[node_of(r)], [this, r] { play(*sessions_[r]); });
    }
    start_actor("flows", hosts_[0], [this] {
      s4u::Actor::self()->daemonize();
      fabric_.flows.run();
    });
    engine.run();
    if (error_) std::rethrow_exception(error_);
    return result();
  }

 private:
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const { return rank / settings_.ranks_per_node; }

  /// The first error ends all ranks.
  void play(SimulatedSession& session) {
    try {
      session.play();
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (...) {
      error_ = std::current_exception();
      s4u::Actor::kill_all();
    }
  }

  [[nodiscard]] SimulationResult result() const {
    SimulationResult result;
    result.seconds = account_.end - account_.begin;
    result.messages = account_.messages;
    add_bytes(result);
    add_times(result);
    if (hosts_.size() > 1) add_links(result);
    result.transfers = transfer_times(fabric_.log);
    result.arrivals = account_.pieces.arrivals(fabric_.log);
    if (settings_.transfers) result.log = fabric_.log;
    for (auto& transfer : result.log) {
      transfer.begin -= account_.begin;
      transfer.end -= account_.begin;
    }
    return result;
  }

  void add_bytes(SimulationResult& result) const {
    const auto ranks = settings_.ranks();
    for (std::uint32_t s = 0; s < ranks; ++s) {
      for (std::uint32_t b = 0; b < ranks; ++b) {
        const auto sent = account_.sent[s * ranks + b];
        const auto delivered = account_.delivered[s * ranks + b];
        if (sent != delivered) {
          throw std::logic_error("rank " + std::to_string(b) + " got " + std::to_string(delivered) + " of the " +
                                 std::to_string(sent) + " bytes from rank " + std::to_string(s));
        }
        result.sent += sent;
        result.delivered += delivered;
        if (node_of(s) != node_of(b)) result.over_network += delivered;
        if (settings_.pairs) result.pairs.push_back({static_cast<int>(s), static_cast<int>(b), sent, delivered});
      }
    }
  }

  void add_times(SimulationResult& result) const {
    for (const auto& port : fabric_.ports) {
      for (std::size_t i = 0; i < result.spent.size(); ++i) result.spent[i] += port->spent()[i];
    }
    // After the last slice, ranks still take turns until all know of the end: the rest is idle time.
    double busy = 0;
    auto& idle = result.spent[static_cast<std::size_t>(Spent::idle)] = 0;
    for (const auto seconds : result.spent) busy += seconds;
    const double all = std::max(busy, result.seconds * settings_.ranks());
    idle = all - busy;
    for (auto& seconds : result.spent) seconds /= all;
  }

  void add_links(SimulationResult& result) const {
    result.ideal_rate = ideal_rate(routes_);
    result.random_pairs = random_pairs(routes_, kPairPatterns, settings_.seed);
    std::vector<std::uint64_t> bytes(hosts_.size() * hosts_.size());
    const auto ranks = settings_.ranks();
    for (std::uint32_t s = 0; s < ranks; ++s) {
      for (std::uint32_t b = 0; b < ranks; ++b) {
        bytes[node_of(s) * hosts_.size() + node_of(b)] += account_.delivered[s * ranks + b];
      }
    }
    result.links = busiest_links(routes_, bytes, result.seconds, kLinksNamed);
  }

  const SimulationSettings& settings_;
  const std::vector<s4u::Host*>& hosts_;
  const FabricRoutes& routes_;
  SparseMemory blank_;
  Fabric fabric_;
  MeetingPlace place_;
  Account account_;
  std::vector<std::unique_ptr<SimulatedSession>> sessions_;
  std::exception_ptr error_;
};

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) {
  LoadedPlatform platform(settings);
  const auto routes = routes_between(platform.hosts());
  auto fitted = settings;
  // Each rank sends one message per slot.
  if (settings.fit_slots) fitted.slot_ns = platform.slot_at(ideal_rate(routes) / settings.ranks_per_node, 2);
  auto result = Run(fitted, platform.hosts(), routes).play(platform.engine());
  result.slot_ns = fitted.slot_ns;
  return result;
}

}  // namespace eventloom
