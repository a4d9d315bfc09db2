#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/dataflow/dead_time.hpp"
#include "core/dataflow/event_histograms.hpp"
#include "core/definitions/definitions.hpp"
#include "core/definitions/per_source.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/error.hpp"
#include "io/live/feed_stream.hpp"
#include "reference_detector.hpp"

namespace eventloom::test {

namespace {

/// The filter knows the groups of the reference, too.
EventFilter filter_of(const RunCase& of) {
  EventFilter filter(reference_detector(of.roles.sources));
  for (const auto& expression : of.filter) filter.add(expression, of.base.tick_ps);
  return filter;
}

EventDefinitionPtr definition_of(const RunCase& of, const std::string& text) {
  const auto detector = reference_detector(of.roles.sources);
  if (!text.starts_with(kPerSource)) return parse_event_definition(text, of.base.tick_ps, detector);
  return per_source(parse_event_definition(text.substr(kPerSource.size()), of.base.tick_ps, detector));
}

std::vector<WantedEvents> wanted_events(const RunCase& of) {
  std::vector<WantedEvents> wanted{{definition_of(of, of.definition), of.overlap}};
  for (const auto& events : of.further) wanted.push_back({definition_of(of, events.definition), events.overlap});
  return wanted;
}

SessionSettings session_settings(const RunCase& of) {
  SessionSettings session;
  session.wiring.roles = of.roles;
  session.wiring.ring = of.ring;
  session.wiring.schedule = of.schedule_settings(of.roles);
  session.wiring.in_flight = {of.slices_in_flight, of.transfers_in_flight};
  session.wiring.finished = of.finished_set();
  session.building = {of.geometry(), wanted_events(of), {}, of.with_payload()};
  for (std::uint32_t s = 0; s < of.roles.sources; ++s) session.building.payload.push_back(of.payload_of(s));
  session.building.stretch = of.stretch;
  session.builder_threads = of.threads;
  if (of.keep_sorted) session.building.save_bin_ticks = 10;
  session.building.detector = of.detector->sources() == 0 ? std::make_shared<Detector>(of.roles.sources) : of.detector;
  session.building.histograms = of.histograms;
  session.filter = filter_of(of);
  session.speed = of.speed;
  session.patience.epoch_timeout = of.epoch_timeout;
  session.patience.quiet = of.quiet;
  session.patience.epochs_per_second = epochs_per_second(of.base);
  session.patience.alone = of.live() && of.roles.sources == 1;
  session.duration = of.duration;
  session.telemetry = of.telemetry;
  session.live = of.live();
  session.all_live = of.live() && std::ranges::none_of(of.arrivals, [](const auto& a) { return a.empty(); });
  return session;
}

/// Collects the slices of a writer.
class Collector final : public EventSink {
 public:
  explicit Collector(std::function<void(const BuiltSlice&)> take) : take_(std::move(take)) {}
  void write(const BuiltSlice& slice) override { take_(slice); }

 private:
  std::function<void(const BuiltSlice&)> take_;
};

/// One rank of a case.
class Player final : SessionEnds, TurnTask {
 public:
  Player(const RunCase& of, Simulation& simulation, SimulatedRank& rank, Outcome& outcome, bool after)
      : of_(of), simulation_(simulation), rank_(rank), outcome_(outcome), after_(after) {}

  void play() {
    rank_.set_stalls(of_.stalls);
    Session session(session_settings(of_), {rank_, rank_, rank_, rank_.clock()});
    session_ = &session;
    session.begin(*this, local_sources());
    begin();
    session.run({this});
    outcome_.took_ns = std::max(outcome_.took_ns, time());
    outcome_.stopped_by = session.control().stopped_by();
    if (const auto* picture = session.picture()) outcome_.picture = *picture;
    if (const auto* feed = session.histograms()) note_cells(*feed);
    if (auto* sources = session.sources()) {
      sources->live().close();
      outcome_.cut_off |= sources->report().cut_off();
      outcome_.hits_read += sources->report().counters()[Metric::hits_read];
    }
  }

  /// Time since the beginning.
  [[nodiscard]] std::int64_t time() const { return simulation_.now_ns() - begun_; }
  /// The slices written by the sinks of this rank, after all ranks have left.
  [[nodiscard]] std::vector<std::uint64_t> written() const {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, slice] : outcome_.slices) {
      if (slice.by == rank_.number()) numbers.push_back(number);
    }
    return numbers;
  }

 private:
  [[nodiscard]] bool is_live(std::uint32_t source) const { return of_.live() && !of_.arrivals[source].empty(); }

  void begin() {
    begun_ = simulation_.now_ns();
    for (const auto& command : of_.commands) simulation_.expect(begun_ + command.at_ns);
    if (of_.signal != 0 && rank_.number() == of_.roles.ranks - 1) {
      rank_.ask_to_stop(of_.signal, begun_ + of_.signal_after_ns);
    }
    if (of_.peer_lost_after_ns != 0) rank_.lose_peer(of_.absence.rank, begun_ + of_.peer_lost_after_ns);
    if (rank_.number() != 0) return;
    if (of_.absence.rank != -1 && !after_) simulation_.set_absence(of_.absence, begun_);
    if (of_.standstill.until_ns != 0) simulation_.set_standstill(of_.standstill, begun_);
    if (auto* clock = session_->wiring().clock()) outcome_.slots_begin_ns = -clock->since_start();
  }

  void note_cells(const HistogramFeed& feed) {
    outcome_.cells_bytes += feed.bytes_received();
    if (rank_.number() != 0) return;
    for (std::size_t i = 0; i < of_.histograms->specs().size(); ++i) {
      const auto cells = feed.cells(i);
      outcome_.cells.emplace_back(cells.begin(), cells.end());
    }
  }
  void add_cells(std::size_t kind, std::size_t histogram, std::size_t begin,
                 std::span<std::uint64_t> cells) const override {
    if (cells_.empty() || kind != 0) return;
    const auto counted = of_.histograms->cells_of(histogram, cells_).subspan(begin, cells.size());
    std::ranges::transform(counted, cells, cells.begin(), std::plus());
  }
  void count_cells(const BuiltSlice& slice) {
    if (!of_.histograms) return;
    cells_.resize(of_.histograms->cells());
    EventHistograms(of_.histograms).add(slice, cells_);
  }

  /// Runs once per turn.
  void turn(SteadyTime now) override {
    if (rank_.number() == 0) {
      for (const auto histogram : of_.looked_at) session_->histograms()->want(histogram, now);
    }
    for (; asked_ < of_.commands.size() && of_.commands[asked_].at_ns <= time(); ++asked_) {
      const auto& command = of_.commands[asked_];
      if (command.rank != rank_.number()) continue;
      session_->control().ask(Request{.command = command.command,
                                      .speed_millionths = static_cast<std::uint64_t>(std::round(command.speed * 1e6))});
    }
    const bool all_before = all_paused();
    outcome_.paused[static_cast<std::size_t>(rank_.number())] = session_->control().paused();
    if (all_before && !all_paused()) outcome_.paused_ns += time() - outcome_.all_paused_since;
    if (!all_before && all_paused()) outcome_.all_paused_since = time();
  }
  [[nodiscard]] bool all_paused() const { return std::ranges::all_of(outcome_.paused, std::identity()); }

  void new_file() override { ++outcome_.new_files[static_cast<std::size_t>(rank_.number())]; }
  void watch_built(const BuiltSlice& slice) override {
    const auto number = slice.slice().value;
    outcome_.built_on[number] = rank_.number();
    if (builds_too_soon()) outcome_.faults.emplace_back("a slice is built while a source of the rank can send");
    if (of_.keep_sorted) outcome_.sorted_by[number] = sorted_by_;
  }
  void report(const BuildProblem& problem) override {
    const auto cause = problem.damage.cause;
    if (of_.damaged == 0 && cause != DropCause::untimed && !wanted(cause)) outcome_.faults.push_back(problem.reason);
  }
  std::function<void(const SortedSlice&)> sorted_sink_of(BuilderId id) override {
    if (!of_.keep_sorted) return {};
    return [this, id](const SortedSlice&) { sorted_by_ = id.value; };
  }

  /// Sources go first where enough ranks without sources may claim the slice.
  [[nodiscard]] bool builds_too_soon() const {
    const bool may_claim = of_.schedule == "balanced" && of_.roles.others_can_build() && of_.roles.filters == 0;
    const auto* sources = session_->sources();
    return may_claim && sources != nullptr && sources->sends_at_full_rate();
  }

  std::vector<EventSink*> sinks_of(std::uint32_t writer) override {
    std::vector<EventSink*> sinks{&first_sink(writer)};
    for (std::size_t i = 0; i < of_.further.size(); ++i) sinks.push_back(&further_sink(i));
    return sinks;
  }

  EventSink& further_sink(std::size_t kind) {
    sinks_.push_back(std::make_unique<Collector>(
        [this, kind](const BuiltSlice& slice) { outcome_.further[kind][slice.slice().value] = slice; }));
    return *sinks_.back();
  }

  EventSink& first_sink(std::uint32_t writer) {
    sinks_.push_back(std::make_unique<Collector>(
        [this, writer, written = std::uint64_t{0}, last = std::int64_t{-1}](const BuiltSlice& slice) mutable {
          if (writer == 0 && of_.sink_fails_after != 0 && ++written > of_.sink_fails_after) return fail_to_write();
          const auto number = slice.slice().value;
          if (static_cast<std::int64_t>(number) <= std::exchange(last, static_cast<std::int64_t>(number))) {
            outcome_.faults.emplace_back("a writer's slices do not rise");
          }
          count_cells(slice);
          const WrittenSlice as{writer, slice, time(), rank_.number(), after_};
          if (!outcome_.slices.try_emplace(number, as).second) {
            outcome_.faults.push_back("slice " + std::to_string(number) + " is written twice");
          }
        }));
    return *sinks_.back();
  }

  void fail_to_write() {
    if (!of_.sink_stops) throw UserError("the disk is full");
    session_->control().stop_for(Cause::writer, "the disk is full");
  }

  std::vector<LocalSource> local_sources() {
    std::vector<LocalSource> local;
    for (std::uint32_t s = 0; s < of_.roles.sources; ++s) {
      const SourceId id{static_cast<std::uint16_t>(s)};
      if (of_.roles.rank_of(id) == rank_.number()) local.push_back(is_live(s) ? live(id) : recorded(id));
    }
    return local;
  }

  LocalSource recorded(SourceId id) {
    const TimeBase base = of_.base;
    const auto& hits = of_.hits[id.value];
    if (of_.as_files) return {id, open_table(id, base, of_.payload_of(id.value), hits, of_.unique)};
    auto& random = simulation_.random();
    auto buffers = make_stream(hits, base.epoch_ticks,
                               [&] { return static_cast<std::uint32_t>(1 + random() % of_.epochs_per_buffer); });
    for (auto& buffer : buffers) {
      if (of_.is_damaged(id.value, buffer.header.first_epoch)) buffer.bytes[sizeof(EpochBufferHeader)] ^= std::byte{1};
    }
    auto stream = std::make_unique<RecordedStream>(id, base, std::move(buffers),
                                                   [this, id](EpochRange epochs) { collected(id, epochs); });
    if (of_.breaks_off && id.value == 0) stream->break_off();
    return {id, std::move(stream)};
  }

  LocalSource live(SourceId id) {
    auto feed = std::make_unique<ScriptedFeed>(id, of_.base, of_.arrivals[id.value], [this] { return time(); });
    FeedStream::Settings settings;
    settings.buffer_bytes = of_.live_buffer;
    auto stream = std::make_unique<FeedStream>(std::move(feed), settings);
    stream->fix_header();
    auto* as_live = stream.get();
    return {id, std::move(stream), as_live};
  }

  void collected(SourceId id, EpochRange epochs) {
    if (id.value == 0 && of_.source_fails_after != 0 && ++collects_ > of_.source_fails_after) {
      throw UserError("the input is broken");
    }
    if (of_.detector->corrects()) return;  // slices are not those of the epochs as recorded
    const auto geometry = of_.geometry();
    const auto slice = geometry.slice_of(epochs.end - 1 - geometry.margin_epochs()).value;
    if (all_paused() && !outcome_.sent_at.empty() && slice > outcome_.sent_at.rbegin()->first) {
      outcome_.faults.push_back("slice " + std::to_string(slice) + " is begun in a pause");
    }
    outcome_.sent_at.try_emplace(slice, time());
    outcome_.transfers.push_back({id.value, slice, time()});
  }

  const RunCase& of_;
  Simulation& simulation_;
  SimulatedRank& rank_;
  Outcome& outcome_;
  bool after_;
  Session* session_ = nullptr;
  std::vector<std::unique_ptr<Collector>> sinks_;
  std::vector<std::uint64_t> cells_;  ///< of the histograms, counted by the writers of this rank
  std::int64_t begun_ = 0;
  std::size_t asked_ = 0;  ///< commands
  std::uint64_t collects_ = 0;
  std::uint32_t sorted_by_ = 0;  ///< builder of the next slice to watch
};

/// The slices of the lost rank that are on disk: the first few of each of its writers.
std::vector<std::uint64_t> kept_of_lost(const RunCase& of, Outcome& outcome) {
  std::map<std::uint32_t, std::uint64_t> kept;
  std::vector<std::uint64_t> numbers;
  std::erase_if(outcome.slices, [&](const auto& entry) {
    if (entry.second.by != of.absence.rank) return false;
    if (++kept[entry.second.writer] > of.kept_of_lost) return true;
    numbers.push_back(entry.first);
    return false;
  });
  return numbers;
}

/// The others continue without the lost rank, from the slices that all of them have written.
void resume(const RunCase& of, const Player& before, Simulation& simulation, SimulatedRank& rank, Outcome& outcome) {
  const auto mine = before.written();
  const auto others = rank.among_the_others();
  auto written = others->ranks().all_gather(mine);
  const bool first = others->number() == 0;
  written.push_back(others->ranks().all_gather(first ? kept_of_lost(of, outcome) : std::vector<std::uint64_t>())[0]);
  std::set<std::uint64_t> all;
  for (const auto& numbers : written) all.insert(numbers.begin(), numbers.end());
  RunCase rest = of;
  rest.roles = *of.roles_after;
  for (const auto number : all) rest.finished.push_back({number});
  Player(rest, simulation, *others, outcome, true).play();
}

void play_rank(const RunCase& of, Simulation& simulation, SimulatedRank& rank, Outcome& outcome) {
  auto& error = outcome.errors[static_cast<std::size_t>(rank.number())];
  Player player(of, simulation, rank, outcome, false);
  bool without_one = false;
  try {
    player.play();
  } catch (const UserError& e) {
    error = e.what();
  } catch (const ProgramEnds& e) {
    without_one = of.roles_after.has_value();
    if (!without_one) error = e.what();
    outcome.ended_at_ns.push_back(player.time());
  }
  if (without_one) resume(of, player, simulation, rank, outcome);
}

}  // namespace

SliceGeometry RunCase::geometry() const {
  const auto history = dead_time_history(detector->longest_dead_time());
  return widest({base, epochs_per_slice, 0, 0, history}, wanted_events(*this));
}

PayloadTable RunCase::payload_of(std::size_t source) const {
  return PayloadTable::uniform(payload.empty() ? std::uint8_t{0} : payload[source]);
}

SliceSet RunCase::finished_set() const {
  SliceRuns runs;
  for (const auto slice : finished) runs.add(slice);
  return {first_slice, runs.runs()};
}

ScheduleSettings RunCase::schedule_settings(const Roles& of) const {
  ScheduleSettings settings;
  settings.name = schedule;
  settings.table_text = table_text;
  settings.n_sources = of.sources;
  settings.n_builders = of.builders;
  settings.slot_ns = slot_ns;
  settings.first_slice = first_slice;
  return settings;
}

Outcome play(const RunCase& of) {
  Simulation simulation(of.simulation);
  Outcome outcome;
  outcome.errors.resize(static_cast<std::size_t>(of.roles.ranks));
  outcome.paused.resize(outcome.errors.size());
  outcome.further.resize(of.further.size());
  outcome.new_files.resize(outcome.errors.size());
  for (const auto& arrivals : of.arrivals) {
    for (const auto& arrival : arrivals) simulation.expect(simulation.now_ns() + arrival.time_ns);
  }
  simulation.play([&](SimulatedRank& rank) { play_rank(of, simulation, rank, outcome); });
  return outcome;
}

std::string text_of(const RunCase& of) {
  std::ostringstream text;
  text << "seed " << of.simulation.seed << ": " << of.roles.ranks << " ranks, " << of.roles.sources << " sources, "
       << of.roles.builders << " builders, " << of.roles.filters << " filters, " << of.schedule << ", " << of.definition
       << ", overlap " << of.overlap.value << ", " << of.epochs_per_slice << " epochs per slice, ring " << of.ring.depth
       << " x " << of.ring.cell_bytes << ", " << of.slices_in_flight << " in flight";
  for (const auto& expression : of.filter) text << ", filter " << expression;
  for (const auto& events : of.further) text << ", " << events.definition << " with " << events.overlap.value;
  if (of.threads != 1) text << ", " << of.threads << " threads";
  if (of.simulation.far) text << ", far apart, " << of.transfers_in_flight << " transfers";
  return text.str();
}

}  // namespace eventloom::test
