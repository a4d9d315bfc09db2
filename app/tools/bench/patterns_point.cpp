#include "app/tools/bench/patterns_point.hpp"

#include <algorithm>
#include <utility>

#include "app/document/clock_json.hpp"
#include "app/tools/bench/peers.hpp"

namespace eventloom {

namespace {

constexpr double kMemcpySeconds = 0.02;

/// All measurements of one pattern, schedule, size and queue.
class PatternsMeasurement {
 public:
  PatternsMeasurement(const PatternsConfig& config, BenchRun& run, const PatternsPoint& point)
      : config_(config), run_(run), communicator_(run.communicator()), pattern_(point.pattern) {
    traffic_.connections = connections_of(pattern_, communicator_.size());
    traffic_.schedule = point.schedule;
    traffic_.message_bytes = point.message_bytes;
    traffic_.spread = config.spread;
    traffic_.ring = ring_for(traffic_, communicator_, {point.queue, config.cell_size});
    traffic_.limits = {.seconds = config.slices == 0 ? config.seconds : 0, .slices = config.slices};
    traffic_.receive = config.receive;
    traffic_.control = config.control;
    traffic_.bin_seconds = config.seconds / 20;
  }

  Json measure() {
    const int repeat = run_.repeat();
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
    const auto times = measure_times();
    point["message_time"] = times.to_json();
    point["message_time"]["messages"] = timed_messages_;
    for (const auto& [name, p] : {std::pair("p50", 50.0), {"p99", 99.0}}) {
      point["shown_us"][name] = times.histogram().percentile(p) / 1000;
    }
    for (const auto& name : config_.peers) {
      auto& peer = point["peers"][name] = measure_peer(make_peer(name, communicator_), repeat);
      point["verify_errors"] = point["verify_errors"].get<std::uint64_t>() + peer["verify_errors"].get<std::uint64_t>();
    }
    return point;
  }

 private:
  /// Repeats the traffic with each message timed, which would lower the measured rate.
  MeasuredTimes measure_times() {
    auto timed = traffic_;
    timed.times = run_.times_kept();
    auto result = run_traffic(timed, communicator_);
    timed_messages_ = result.messages();
    run_.write_raw(0, "message_time", result.times);
    return std::move(result.times);
  }

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
              {"spread", spread_of(rates_)},
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

  /// Counts of all repetitions, and the rate at which messages arrived.
  Json measure_peer(const Peer& peer, int repeat) {
    const auto traffic = peer_traffic();
    std::vector<double> rates;
    PeerResult all;
    for (int i = 0; i < repeat; ++i) {
      const auto mine = peer.run(traffic);
      const auto bytes = static_cast<double>(communicator_.sum(mine.bytes_received));
      rates.push_back(rate_per_rank(traffic_.connections, bytes, communicator_.max(mine.seconds)));
      all.messages_sent += communicator_.sum(mine.messages_sent);
      all.messages_received += communicator_.sum(mine.messages_received);
      all.messages_lost += communicator_.sum(mine.messages_lost);
      all.messages_wrong += communicator_.sum(mine.messages_wrong);
    }
    return {{"rate_bytes_per_us", median(rates)},
            {"rates_bytes_per_us", rates},
            {"queue", traffic.queue},
            {"messages_sent", all.messages_sent},
            {"messages", all.messages_received},
            {"messages_lost", all.messages_lost},
            {"share_lost", static_cast<double>(all.messages_lost) / static_cast<double>(all.messages_sent)},
            {"verify_errors", all.messages_wrong}};
  }

  [[nodiscard]] PeerTraffic peer_traffic() const {
    PeerTraffic traffic;
    const int ranks = communicator_.size();
    for (int i = 0; i < ranks; ++i) {
      const int other = (communicator_.rank() + i) % ranks;
      if (sends(communicator_.rank(), other)) traffic.targets.push_back(other);
      if (sends(other, communicator_.rank())) traffic.senders.push_back(other);
    }
    traffic.message_bytes = traffic_.message_bytes;
    // A message larger than a cell takes several.
    const auto held = std::uint64_t{traffic_.ring.depth} * traffic_.ring.cell_bytes / traffic_.message_bytes;
    traffic.queue = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(held, 1, traffic_.ring.depth));
    traffic.seconds = config_.seconds;
    traffic.spread = config_.spread;
    traffic.receive = config_.receive;
    return traffic;
  }

  [[nodiscard]] bool sends(int from, int to) const {
    return traffic_.connections[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] != 0;
  }

  const PatternsConfig& config_;
  BenchRun& run_;
  const Communicator& communicator_;
  std::string pattern_;
  TrafficSettings traffic_;
  std::vector<double> rates_;
  std::vector<double> ceilings_;
  std::vector<TrafficResult> results_;
  std::uint64_t timed_messages_ = 0;  ///< moved while each was timed
};

}  // namespace

Json measure_pattern(const PatternsConfig& config, BenchRun& run, const PatternsPoint& point) {
  return PatternsMeasurement(config, run, point).measure();
}

}  // namespace eventloom
