#include "app/tools/bench/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "app/command/mpi_command.hpp"
#include "app/command/ring_options.hpp"
#include "app/document/json_message.hpp"
#include "app/tools/bench/control_role.hpp"
#include "app/tools/bench/tcp_counters.hpp"
#include "core/engine/source_role.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/json.hpp"
#include "core/transport/mpi_network.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

namespace {

/// Number of slices for which a builder gathers messages at a time. Builders without a build time use no memory beyond
/// the rings, so they take several rings' worth; others take a few, as in a run. If the number of slices is given, a
/// builder takes at most half of its share, so that none claims all of them.
std::uint32_t slices_in_flight(const TrafficSettings& settings) {
  if (!settings.build_time.empty() && settings.build_time.front().count() != 0) return 8;
  const std::uint64_t of_ring = settings.ring.ring_bytes() / std::max<std::uint64_t>(settings.message_bytes, 1);
  const auto several = std::clamp<std::uint64_t>(4 * of_ring, 64, 1024);
  const auto share = settings.limits.slices / std::max<std::size_t>(settings.connections.size(), 1);
  return static_cast<std::uint32_t>(settings.limits.slices == 0 ? several
                                                                : std::clamp<std::uint64_t>(share / 2, 1, several));
}

Roles roles_of(const TrafficSettings& settings) {
  const auto ranks = static_cast<std::uint32_t>(settings.connections.size());
  return {.sources = ranks, .builders = ranks, .filters = 0, .ranks = static_cast<int>(ranks)};
}

WiringSettings wiring_settings(const TrafficSettings& settings) {
  WiringSettings wiring;
  wiring.roles = roles_of(settings);
  wiring.ring = settings.ring;
  wiring.schedule = settings.schedule;
  wiring.in_flight.slices = slices_in_flight(settings);
  return wiring;
}

std::shared_ptr<const PayloadPool> make_pool(const TrafficSettings& settings, std::size_t sender) {
  return std::make_shared<PayloadPool>(static_cast<std::uint32_t>(sender), settings.message_bytes, settings.spread,
                                       std::uint64_t{settings.ring.depth} * settings.ring.cell_bytes);
}

bool sends_at_all(const TrafficSettings& settings, std::size_t rank) {
  return std::ranges::count(settings.connections[rank], 1) != 0;
}

/// One measurement on one rank.
class RankTraffic {
 public:
  RankTraffic(const TrafficSettings& settings, const Communicator& communicator)
      : settings_(settings),
        communicator_(communicator),
        rank_(static_cast<std::size_t>(communicator.rank())),
        network_(communicator),
        wiring_(wiring_settings(settings), network_, idle_) {}

  TrafficResult run() {
    const auto retransmits = tcp_retransmits();
    if (settings_.times) times_.emplace(communicator_);
    make_roles();
    std::vector<Role*> roles{sink_.get()};
    if (source_) roles.push_back(source_.get());
    if (control_) roles.push_back(control_.get());
    EndTogether ending(communicator_);
    wiring_.run(roles, ending);
    return gather(tcp_retransmits() - retransmits);
  }

 private:
  // All ranks synchronise before the clock starts.
  void make_roles() {
    SourceRoleSettings sending;
    sending.geometry = {.base = {}, .epochs_per_slice = 1, .overlap = 0, .reach = 0};
    sending.n_builders = static_cast<std::uint32_t>(settings_.connections.size());
    sending.max_lead = kNoSlice.value;
    sending.served = settings_.connections[rank_];
    SinkSettings receiving;
    receiving.id = {static_cast<std::uint32_t>(rank_)};
    receiving.receive = settings_.receive;
    receiving.slices_in_flight = slices_in_flight(settings_);
    receiving.claims = wiring_.claims();
    receiving.bin_seconds = settings_.bin_seconds;
    receiving.times = times();
    if (!settings_.build_time.empty()) receiving.build_time = settings_.build_time[rank_];
    for (std::size_t s = 0; s < settings_.connections.size(); ++s) {
      receiving.senders.push_back(settings_.connections[s][rank_]);
      const bool wanted = settings_.receive == Receive::verify && receiving.senders.back() != 0;
      receiving.pools.push_back(wanted ? make_pool(settings_, s) : nullptr);
    }
    std::vector<LocalSource> sources;
    if (sends_at_all(settings_, rank_)) {
      const SourceId id{static_cast<std::uint16_t>(rank_)};
      sources.push_back(
          {id, std::make_unique<SyntheticSource>(make_pool(settings_, rank_), settings_.limits, times())});
    }
    sending.since_start = wiring_.start_clock();
    if (settings_.control > 0) add_control();
    meet(communicator_);
    receiving.start = start_ = std::chrono::steady_clock::now();
    sink_ = std::make_unique<SinkRole>(std::move(receiving), wiring_.scheduler(),
                                       wiring_.builder_rings({static_cast<std::uint32_t>(rank_)}));
    if (sources.empty()) return;
    source_ = std::make_unique<SourceRole>(std::move(sending), wiring_.scheduler(), std::move(sources),
                                           wiring_.source_outboxes());
  }

  [[nodiscard]] MessageTimes* times() { return times_ ? &*times_ : nullptr; }

  void add_control() {
    ControlRole::Settings control;
    control.per_message = settings_.control;
    control.sent = [this] { return source_ ? source_->report().counters()[Metric::messages] : 0; };
    control.all_sent = [this] { return !source_ || source_->done(); };
    control_ = std::make_unique<ControlRole>(std::move(control), communicator_);
  }

  [[nodiscard]] Json mine(std::uint64_t retransmits) const {
    Json json{{"host", host_name()},
              {"retransmits", retransmits},
              {"slices", sink_->slices()},
              {"notes", wiring_.assignment_notes()},
              {"control", control_ ? control_->messages() : 0},
              {"seconds", std::chrono::duration<double>(sink_->last_message() - start_).count()}};
    for (std::size_t s = 0; s < sink_->counts().size(); ++s) {
      if (settings_.connections[s][rank_] == 0) continue;
      const auto& c = sink_->counts()[s];
      json["from"].push_back({s, c.messages, c.bytes, c.wrong_chunks, c.bytes_over_time});
    }
    return json;
  }

  [[nodiscard]] TrafficResult gather(std::uint64_t retransmits) {
    TrafficResult result;
    if (times_) result.times = times_->gather(*settings_.times);
    if (auto* clock = wiring_.clock()) result.clocks = clock->qualities();
    std::map<std::string, std::uint64_t> of_host;
    int rank = 0;
    for (const auto& json : all_gather_json(communicator_, mine(retransmits))) {
      auto& most = of_host[json["host"]];
      most = std::max(most, json["retransmits"].get<std::uint64_t>());
      result.slices += json["slices"].get<std::uint64_t>();
      result.slices_of_builder.push_back(json["slices"]);
      result.control_messages += json["control"].get<std::uint64_t>();
      result.assignment_notes += json["notes"].get<std::uint64_t>();
      result.seconds = std::max(result.seconds, json["seconds"].get<double>());
      for (const auto& from : json.value("from", Json::array())) {
        result.connections.push_back({from[0], rank, {from[1], from[2], from[3], from[4]}});
      }
      ++rank;
    }
    for (const auto& [host, n] : of_host) result.retransmits += n;
    for (const auto& sent : communicator_.all_gather(source_ ? source_->report().counters() : Counters()))
      result.sent.add(sent);
    return result;
  }

  const TrafficSettings& settings_;
  const Communicator& communicator_;
  std::size_t rank_;
  MpiNetwork network_;
  Idle idle_;
  Wiring wiring_;
  std::optional<MessageTimes> times_;
  SteadyTime start_;
  std::unique_ptr<SinkRole> sink_;
  std::unique_ptr<SourceRole> source_;
  std::unique_ptr<ControlRole> control_;
};

}  // namespace

std::uint64_t TrafficResult::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& c : connections) sum += c.count.bytes;
  return sum;
}

std::uint64_t TrafficResult::messages() const {
  std::uint64_t sum = 0;
  for (const auto& c : connections) sum += c.count.messages;
  return sum;
}

std::uint64_t TrafficResult::wrong_chunks() const {
  std::uint64_t sum = 0;
  for (const auto& c : connections) sum += c.count.wrong_chunks;
  return sum;
}

RingGeometry ring_for(const TrafficSettings& settings, const Collective& ranks, const RingOptions& options) {
  auto needs = ring_needs(ranks, roles_of(settings));
  const double longest = static_cast<double>(settings.message_bytes) * (1 + settings.spread);
  needs.message_bytes = static_cast<std::uint64_t>(std::ceil(longest));
  return ring_size(needs, options).geometry();
}

TrafficResult run_traffic(const TrafficSettings& settings, const Communicator& communicator) {
  return RankTraffic(settings, communicator).run();
}

double bare_put_rate(const TrafficSettings& settings, const Communicator& communicator) {
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const std::size_t ranks = settings.connections.size();
  const std::uint64_t ring = std::uint64_t{settings.ring.depth} * settings.ring.cell_bytes;
  const auto pool = make_pool(settings, rank);
  const std::uint64_t places = std::max<std::uint64_t>(ring / pool->largest(), 1);
  const std::uint64_t area = std::max(ring, pool->largest());
  MpiRmaTransport transport(communicator, ranks * area);
  SyntheticSource source(pool, settings.limits);
  meet(communicator);
  const auto start = std::chrono::steady_clock::now();
  double bytes = 0;
  SliceData data;
  for (std::uint64_t n = 0; sends_at_all(settings, rank) && !source.end_epoch(); ++n) {
    const std::size_t to = (rank + n) % ranks;
    if (settings.connections[rank][to] == 0) continue;
    data.clear();
    source.collect({Epoch(n), Epoch(n + 1)}, data);
    if (data.pieces.empty()) break;
    transport.put(static_cast<int>(to), rank * area + n / ranks % places * pool->largest(), data.pieces[0]);
    transport.flush(static_cast<int>(to));
    bytes += static_cast<double>(data.pieces[0].size());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  meet(communicator);
  return rate_per_rank(settings.connections, communicator.sum(bytes / seconds), 1);
}

double memcpy_rate(const TrafficSettings& settings, double seconds) {
  const auto pool = make_pool(settings, 0);
  const std::uint64_t ring = std::uint64_t{settings.ring.depth} * settings.ring.cell_bytes;
  std::vector<std::byte> target(std::max(ring, pool->largest()));
  const std::uint64_t places = std::max<std::uint64_t>(ring / pool->largest(), 1);
  SyntheticSource source(pool, {.seconds = seconds, .slices = 0});
  SliceData data;
  double bytes = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t n = 0; !source.end_epoch(); ++n) {
    data.clear();
    source.collect({Epoch(n), Epoch(n + 1)}, data);
    if (data.pieces.empty()) break;
    const auto from = data.pieces[0];
    std::memcpy(target.data() + n % places * pool->largest(), from.data(), from.size());
    asm volatile("" : : "r"(target.data()) : "memory");  // keeps the copy from being optimised away
    bytes += static_cast<double>(from.size());
  }
  return bytes / (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e6);
}

}  // namespace eventloom
