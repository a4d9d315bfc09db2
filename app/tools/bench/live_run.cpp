#include "app/tools/bench/live_run.hpp"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/command/common_clock.hpp"
#include "app/command/mpi_command.hpp"
#include "app/document/json_message.hpp"
#include "core/engine/builder_role.hpp"
#include "core/engine/source_role.hpp"
#include "core/runtime/threads.hpp"
#include "core/transport/mpi_network.hpp"
#include "io/run_output/part_writer.hpp"

namespace eventloom {

namespace {

using Json = nlohmann::json;
using Now = std::function<std::int64_t()>;

/// Gives every rank time to learn the start time before it arrives.
constexpr std::int64_t kStartAfterNs = 2'000'000;

/// Times at which a builder's slice reached each stage, in ns since the start.
struct SliceTimes {
  SliceId slice;
  std::int64_t received = 0;
  std::int64_t built = 0;
  std::int64_t written = 0;
};

/// A scheduler that forwards to another.
class Overlay : public Scheduler {
 public:
  explicit Overlay(Scheduler& of) : of_(of) {}
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    return of_.next_slice(builder, from);
  }
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override { return of_.choose(view); }
  [[nodiscard]] std::uint64_t start_ns(SourceId source, SliceId slice) const override {
    return of_.start_ns(source, slice);
  }
  [[nodiscard]] std::uint64_t slot_ns() const override { return of_.slot_ns(); }
  [[nodiscard]] ClaimBook* claims() override { return of_.claims(); }

 private:
  Scheduler& of_;
};

/// Prevents a source from sending a slice before its hits have been made.
class MadeFirst final : public Overlay {
 public:
  MadeFirst(Scheduler& of, const std::vector<LiveSource*>& by_number) : Overlay(of), by_number_(by_number) {}
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override {
    const auto& source = *by_number_[view.source.value];
    SourceView made = view;
    made.ready = [&](BuilderId b) { return view.ready(b) && source.ready(view.next[b.value]); };
    return Overlay::choose(made);
  }

 private:
  const std::vector<LiveSource*>& by_number_;
};

/// Detects that a builder has taken a slice: it then asks for the next one.
class TakeWatch final : public Overlay {
 public:
  TakeWatch(Scheduler& of, Now now, std::vector<SliceTimes>& log) : Overlay(of), now_(std::move(now)), log_(log) {}
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    if (from.value != 0 && (log_.empty() || log_.back().slice.value + 1 != from.value)) {
      log_.push_back({{from.value - 1}, now_()});
    }
    return Overlay::next_slice(builder, from);
  }

 private:
  Now now_;
  std::vector<SliceTimes>& log_;
};

/// Passes slices to the selector and writers, and records the times.
class TimedOutput final : public SliceOutput {
 public:
  TimedOutput(Selector& selector, Now now, std::vector<SliceTimes>& log)
      : to_(selector), now_(std::move(now)), log_(log) {}
  [[nodiscard]] bool accepts(SliceId slice) override { return to_.accepts(slice); }
  void put(std::vector<BuiltSlice>& built) override {
    while (log_[next_].slice < built.front().slice()) ++next_;
    log_[next_].built = now_();
    to_.put(built);
    log_[next_].written = now_();
  }
  void pass(SliceRange gap) override { to_.pass(gap); }
  void end(SliceId data_end) override { to_.end(data_end); }
  std::size_t do_work() override { return to_.do_work(); }
  [[nodiscard]] bool done() const override { return to_.done(); }

 private:
  LocalOutput to_;
  Now now_;
  std::vector<SliceTimes>& log_;
  std::size_t next_ = 0;  ///< index into the log; slices without data are skipped
};

/// Counts data passed to a writer, or discarded.
class CountingSink final : public EventSink {
 public:
  explicit CountingSink(std::unique_ptr<PartWriter> writer) : writer_(std::move(writer)) {}
  void write(const BuiltSlice& slice) override {
    totals_.add(slice);
    if (writer_) writer_->write(slice);
  }
  void close() {
    if (writer_) writer_->close();
  }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }

 private:
  std::unique_ptr<PartWriter> writer_;  ///< null: data are discarded
  RunTotals totals_;
};

class MakerRole final : public Role {
 public:
  explicit MakerRole(LiveSource& source) : source_(source) {}
  std::size_t do_work(SteadyTime) override { return source_.make(); }
  [[nodiscard]] bool done() const override { return source_.finished(); }

 private:
  LiveSource& source_;
};

/// A builder of this rank and everything that it uses.
struct LiveBuilder {
  LiveBuilder(std::unique_ptr<PartWriter> to, Scheduler& schedule, const Now& now)
      : sink(std::move(to)), selector(EventFilter(), {&sink}), watch(schedule, now, log) {}
  std::vector<SliceTimes> log;
  CountingSink sink;
  Selector selector;
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
      for (std::uint32_t b = 0; b < settings_.wiring.roles.builders; ++b) add_builder({b});
      add_sources();
    });
    std::vector<Role*> roles;
    for (auto& maker : makers_) roles.push_back(&maker);
    if (source_role_) roles.push_back(source_role_.get());
    for (auto& builder : builders_) roles.push_back(builder->role.get());
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
    builders_.push_back(std::make_unique<LiveBuilder>(writer_of(id), wiring_.scheduler(), now()));
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
                                                 std::make_unique<TimedOutput>(builder.selector, now(), builder.log),
                                                 [this](const BuildProblem&) { ++problems_; });
  }

  [[nodiscard]] std::unique_ptr<PartWriter> writer_of(BuilderId id) const {
    if (settings_.output.empty()) return nullptr;
    PartWriterSettings settings;
    settings.run_file = settings_.output;
    settings.writer = id.value;
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
    for (auto& builder : builders_) builder->sink.close();
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
    for (const auto& builder : builders_) {
      totals.add(builder->sink.totals());
      for (const auto& t : builder->log) {
        if (t.written != 0) slices.push_back({t.slice.value, t.received, t.built, t.written});
      }
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
        times.resize(std::max(times.size(), t[0].get<std::size_t>() + 1));
        times[t[0].get<std::size_t>()] = SliceTimes{{t[0].get<std::uint64_t>()}, t[1], t[2], t[3]};
        result.seconds = std::max(result.seconds, t[3].get<double>() * 1e-9);
      }
    }
    for (const auto& json : ranks) add_latencies(json["packets"], times, result);
    return result;
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
  std::vector<std::unique_ptr<LiveBuilder>> builders_;
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
  written.add(other.written);
}

LiveRunResult run_live(const LiveRunSettings& settings, const Communicator& communicator) {
  return RankLive(settings, communicator).run();
}

}  // namespace eventloom
