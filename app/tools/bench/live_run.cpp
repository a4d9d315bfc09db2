#include "app/tools/bench/live_run.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "app/command/common_clock.hpp"
#include "app/command/mpi_command.hpp"
#include "app/document/json_message.hpp"
#include "app/tools/bench/live_watch.hpp"
#include "core/engine/builder_role.hpp"
#include "core/engine/filter_role.hpp"
#include "core/engine/source_role.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/threads.hpp"
#include "core/transport/mpi_network.hpp"

namespace eventloom {

namespace {

/// Gives every rank time to learn the start time before it arrives.
constexpr std::int64_t kStartAfterNs = 2'000'000;

/// A builder of this rank and everything that it uses.
struct LiveBuilder {
  LiveBuilder(Scheduler& schedule, const Now& now) : watch(schedule, now, log) {}
  std::vector<SliceTimes> log;
  TakeWatch watch;
  std::unique_ptr<BuilderRole> role;
};

class RankLive final : private TurnTask {
 public:
  RankLive(const LiveRunSettings& settings, const Communicator& communicator)
      : settings_(settings),
        communicator_(communicator),
        network_(communicator),
        wiring_(settings.wiring, network_, idle_),
        clock_(communicator),
        made_first_(wiring_.scheduler(), by_number_) {}

  LiveRunResult run() {
    agree(communicator_, [&] {
      for (std::uint32_t f = 0; f < settings_.wiring.roles.filters; ++f) add_filter({f});
      for (std::uint32_t b = 0; b < settings_.wiring.roles.builders; ++b) add_builder({b});
      add_sources();
    });
    std::vector<Role*> roles;
    for (auto& maker : makers_) roles.push_back(&maker);
    if (source_role_) roles.push_back(source_role_.get());
    for (auto& builder : builders_) roles.push_back(builder->role.get());
    for (auto& filter : filters_) roles.push_back(filter.get());
    start_ = communicator_.broadcast(clock_.now() + kStartAfterNs);
    EndTogether ending(communicator_);
    wiring_.run(roles, ending, {this});
    return gather();
  }

 private:
  void turn(SteadyTime) override { clock_.do_work(); }

  [[nodiscard]] Now now() {
    return [this] { return clock_.now() - start_; };
  }

  void add_builder(BuilderId id) {
    if (!wiring_.here(id)) return;
    const auto& roles = settings_.wiring.roles;
    builders_.push_back(std::make_unique<LiveBuilder>(wiring_.scheduler(), now()));
    auto& builder = *builders_.back();
    BuilderRoleSettings settings;
    settings.id = id;
    settings.n_sources = roles.sources;
    settings.n_builders = roles.builders;
    settings.slices_in_flight = settings_.wiring.in_flight.slices;
    settings.threads = builder_threads();
    settings.claims = wiring_.claims();
    SliceBuilderSettings building{
        settings_.live.geometry, {{settings_.definition, settings_.live.geometry.overlap}}, {}, false};
    building.payload.resize(roles.sources);
    builder.role = std::make_unique<BuilderRole>(settings, building, builder.watch, Inbox(wiring_.builder_rings(id)),
                                                 std::make_unique<TimedOutput>(output_of(id), now(), builder.log),
                                                 [this](const BuildProblem&) { ++problems_; });
  }

  void add_filter(FilterId id) {
    if (!wiring_.here(id)) return;
    const auto& roles = settings_.wiring.roles;
    FilterRoleSettings settings;
    settings.id = id;
    settings.n_filters = roles.filters;
    settings.n_builders = roles.builders;
    settings.slices_in_flight = settings_.wiring.in_flight.slices;
    auto selector = selector_of(id.value);
    sinks_.back()->record_times(now());
    filters_.push_back(
        std::make_unique<FilterRole>(std::move(settings), wiring_.filter_inboxes(id), std::move(selector)));
  }

  [[nodiscard]] std::unique_ptr<SliceOutput> output_of(BuilderId id) {
    if (settings_.wiring.roles.filters != 0) return std::make_unique<FilterOutput>(wiring_.filter_outboxes(id));
    return std::make_unique<LocalOutput>(selector_of(id.value));
  }

  /// `writer`: number of the filter, or of the builder without filters.
  [[nodiscard]] Selector selector_of(std::uint32_t writer) {
    sinks_.push_back(std::make_unique<CountingSink>(writer_of(writer)));
    return {EventFilter(), {sinks_.back().get()}};
  }

  [[nodiscard]] std::unique_ptr<PartWriter> writer_of(std::uint32_t number) const {
    if (settings_.output.empty()) return nullptr;
    PartWriterSettings settings;
    settings.run_file = settings_.output;
    settings.writer = number;
    settings.base = settings_.live.geometry.base;
    settings.n_sources = settings_.wiring.roles.sources;
    return std::make_unique<PartWriter>(settings);
  }

  void add_sources() {
    const auto& roles = settings_.wiring.roles;
    std::vector<LocalSource> local;
    by_number_.resize(roles.sources);
    for (std::uint32_t s = 0; s < roles.sources; ++s) {
      const SourceId id{static_cast<std::uint16_t>(s)};
      if (roles.rank_of(id) != communicator_.rank()) continue;
      auto live = settings_.live;
      live.id = id;
      live.since_start = now();
      auto source = std::make_unique<LiveSource>(std::move(live));
      by_number_[s] = source.get();
      makers_.emplace_back(*source);
      local.push_back({id, std::move(source)});
    }
    if (local.empty()) return;
    SourceRoleSettings settings;
    settings.geometry = settings_.live.geometry;
    settings.n_builders = roles.builders;
    settings.max_lead = 2 * std::uint64_t{settings_.wiring.in_flight.slices} * roles.builders;
    source_role_ =
        std::make_unique<SourceRole>(std::move(settings), made_first_, std::move(local), wiring_.source_outboxes());
  }

  void close_files() {
    for (auto& sink : sinks_) sink->close();
  }

  [[nodiscard]] Json mine() const {
    LiveCount sum;
    Json packets = Json::array();
    Json slices = Json::array();
    for (const auto* source : by_number_) {
      if (source == nullptr) continue;
      sum.add(source->count());
      for (const auto& packet : source->packets_sent()) packets.push_back({packet.slice.value, packet.oldest.value});
    }
    RunTotals totals;
    const auto add_times = [&](const std::vector<SliceTimes>& log) {
      for (const auto& t : log) {
        if (t.written != 0) slices.push_back({t.slice.value, t.received, t.built, t.filtered, t.written});
      }
    };
    for (const auto& builder : builders_) add_times(builder->log);
    for (const auto& sink : sinks_) {
      totals.add(sink->totals());
      add_times(sink->times());
    }
    return {{"count", {sum.made, sum.missed, sum.sent, sum.dropped, sum.late, sum.packets, sum.behind_ns}},
            {"packets", packets},
            {"slices", slices},
            {"built", totals[Metric::hits_in] - totals.dropped()},
            {"dead", totals.dropped()},
            {"events", totals[Metric::events]},
            {"problems", problems_ + totals[Metric::unbalanced_slices]},
            {"clock_error_ns", clock_.precision_ns()}};
  }

  LiveRunResult gather() {
    agree(communicator_, [&] { close_files(); });
    LiveRunResult result;
    std::vector<std::optional<SliceTimes>> times;
    const auto ranks = all_gather_json(communicator_, mine());
    for (const auto& json : ranks) {
      const auto& c = json["count"];
      result.count.add({c[0], c[1], c[2], c[3], c[4], c[5], c[6]});
      result.built += json["built"].get<std::uint64_t>();
      result.dead += json["dead"].get<std::uint64_t>();
      result.events += json["events"].get<std::uint64_t>();
      result.problems += json["problems"].get<std::uint64_t>();
      result.clock_error_ns = std::max(result.clock_error_ns, json["clock_error_ns"].get<double>());
      for (const auto& t : json["slices"]) {
        merge({{t[0].get<std::uint64_t>()}, t[1], t[2], t[3], t[4]}, times);
        result.seconds = std::max(result.seconds, t[4].get<double>() * 1e-9);
      }
    }
    for (const auto& json : ranks) add_latencies(json["packets"], times, result);
    return result;
  }

  /// A slice has times from its builder and, if there are filters, from its filter, which writes last.
  static void merge(const SliceTimes& part, std::vector<std::optional<SliceTimes>>& times) {
    times.resize(std::max<std::size_t>(times.size(), part.slice.value + 1));
    auto& whole = times[part.slice.value];
    if (!whole) whole = SliceTimes{part.slice};
    whole->received = std::max(whole->received, part.received);
    whole->built = std::max(whole->built, part.built);
    whole->filtered = std::max(whole->filtered, part.filtered);
    whole->written = std::max(whole->written, part.written);
  }

  static void add_latencies(const Json& packets, const std::vector<std::optional<SliceTimes>>& times,
                            LiveRunResult& result) {
    for (const auto& packet : packets) {
      const auto slice = packet[0].get<std::size_t>();
      const auto oldest = packet[1].get<std::int64_t>();
      if (slice >= times.size() || !times[slice]) {
        ++result.lost_packets;
        continue;
      }
      result.received.add(static_cast<double>(times[slice]->received - oldest));
      result.built_at.add(static_cast<double>(times[slice]->built - oldest));
      if (times[slice]->filtered != 0) result.filtered.add(static_cast<double>(times[slice]->filtered - oldest));
      result.written.add(static_cast<double>(times[slice]->written - oldest));
    }
  }

  const LiveRunSettings& settings_;
  const Communicator& communicator_;
  MpiNetwork network_;
  Idle idle_;
  Wiring wiring_;
  CommonClock clock_;
  std::int64_t start_ = 0;              ///< common to all ranks
  std::vector<LiveSource*> by_number_;  ///< one per source; null for sources of other ranks
  MadeFirst made_first_;
  std::deque<MakerRole> makers_;
  std::unique_ptr<SourceRole> source_role_;
  std::vector<std::unique_ptr<CountingSink>> sinks_;  ///< one per writer of this rank
  std::vector<std::unique_ptr<LiveBuilder>> builders_;
  std::vector<std::unique_ptr<FilterRole>> filters_;
  std::uint64_t problems_ = 0;
};

}  // namespace

void LiveRunResult::add(const LiveRunResult& other) {
  count.add(other.count);
  built += other.built;
  dead += other.dead;
  events += other.events;
  problems += other.problems;
  lost_packets += other.lost_packets;
  seconds += other.seconds;
  clock_error_ns = std::max(clock_error_ns, other.clock_error_ns);
  received.add(other.received);
  built_at.add(other.built_at);
  filtered.add(other.filtered);
  written.add(other.written);
}

LiveRunResult run_live(const LiveRunSettings& settings, const Communicator& communicator) {
  return RankLive(settings, communicator).run();
}

}  // namespace eventloom
