#include "run_case.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/definitions/definitions.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/error.hpp"
#include "io/live/feed_stream.hpp"

namespace eventloom::test {

namespace {

EventFilter filter_of(const RunCase& of) {
  EventFilter filter;
  if (of.least_hits != 0) filter.add("n_hits>=" + std::to_string(of.least_hits), of.base.tick_ps);
  return filter;
}

SliceSet finished_set(const RunCase& of) {
  SliceRuns runs;
  for (const auto slice : of.finished) runs.add(slice);
  return {of.first_slice, runs.runs()};
}

WiringSettings wiring_settings(const RunCase& of) {
  WiringSettings wiring;
  wiring.roles = of.roles;
  wiring.ring = of.ring;
  wiring.schedule.name = of.schedule;
  wiring.schedule.slot_ns = of.slot_ns;
  wiring.schedule.first_slice = of.first_slice;
  wiring.slices_in_flight = of.slices_in_flight;
  wiring.finished = finished_set(of);
  return wiring;
}

SessionSettings session_settings(const RunCase& of) {
  SessionSettings session;
  session.building = {of.geometry(), parse_event_definition(of.definition, of.base.tick_ps), {}, false};
  session.building.payload.resize(of.roles.sources);
  session.filter = filter_of(of);
  session.speed = of.speed;
  session.patience.epoch_timeout = of.epoch_timeout;
  session.patience.epochs_per_second = epochs_per_second(of.base);
  session.patience.alone = of.live() && of.roles.sources == 1;
  return session;
}

/// Where a writer's slices go: into the outcome.
class Collector final : public EventSink {
 public:
  Collector(std::uint32_t writer, std::uint64_t most, std::function<void()> full, Outcome& outcome)
      : writer_(writer), most_(most), full_(std::move(full)), outcome_(outcome) {}

  void write(const BuiltSlice& slice) override {
    if (most_ != 0 && ++written_ > most_) return full_();
    const auto number = slice.slice().value;
    if (last_ && *last_ >= number) outcome_.faults.push_back("a writer's slices do not rise");
    last_ = number;
    if (!outcome_.slices.try_emplace(number, WrittenSlice{writer_, slice}).second) {
      outcome_.faults.push_back("slice " + std::to_string(number) + " is written twice");
    }
  }

 private:
  std::uint32_t writer_;
  std::uint64_t most_;
  std::function<void()> full_;
  Outcome& outcome_;
  std::uint64_t written_ = 0;
  std::optional<std::uint64_t> last_;
};

/// One rank of a case.
class Player {
 public:
  Player(const RunCase& of, Simulation& simulation, SimulatedRank& rank, Outcome& outcome)
      : of_(of), simulation_(simulation), rank_(rank), outcome_(outcome) {}

  void play() {
    RunControl control(rank_, of_.duration, rank_);
    control_ = &control;
    if (of_.live()) control.set_live(all_live(), of_.first_slice, of_.geometry());
    Wiring wiring(wiring_settings(of_), rank_, rank_.clock());
    SessionEnds ends;
    ends.sink_of = [this](std::uint32_t writer) -> EventSink& { return sink_of(writer); };
    ends.watch_built = [this](const BuiltSlice& slice) { outcome_.built_on[slice.slice().value] = rank_.number(); };
    ends.report = [this](const BuildProblem& problem) {
      if (!of_.damaged) outcome_.faults.push_back(problem.reason);
    };
    Session session(session_settings(of_), ends, local_sources(), wiring, control, rank_.ranks());
    begun_ = simulation_.now_ns();
    if (of_.signal != 0 && rank_.number() == of_.roles.ranks - 1) {
      rank_.ask_to_stop(of_.signal, begun_ + of_.signal_after_ns);
    }
    session.run(rank_, [](SteadyTime) {});
    outcome_.took_ns = std::max(outcome_.took_ns, simulation_.now_ns() - begun_);
    outcome_.stopped_by = control.stopped_by();
    if (auto* sources = session.sources()) {
      sources->live().close();
      outcome_.cut_off |= sources->cut_off();
      outcome_.hits_read += sources->counters()[Metric::hits_read];
    }
  }

 private:
  [[nodiscard]] bool is_live(std::uint32_t source) const { return of_.live() && !of_.arrivals[source].empty(); }
  [[nodiscard]] bool all_live() const {
    return std::ranges::none_of(of_.arrivals, [](const auto& arrivals) { return arrivals.empty(); });
  }

  EventSink& sink_of(std::uint32_t writer) {
    const auto full = [this] {
      if (!of_.sink_stops) throw UserError("the disk is full");
      control_->stop_writing("the disk is full");
    };
    const auto most = writer == 0 ? of_.sink_fails_after : 0;
    sinks_.push_back(std::make_unique<Collector>(writer, most, full, outcome_));
    return *sinks_.back();
  }

  std::vector<SourceRole::LocalSource> local_sources() {
    std::vector<SourceRole::LocalSource> local;
    for (std::uint32_t s = 0; s < of_.roles.sources; ++s) {
      const SourceId id{static_cast<std::uint16_t>(s)};
      if (of_.roles.rank_of(id) == rank_.number()) local.push_back(is_live(s) ? live(id) : recorded(id));
    }
    return local;
  }

  SourceRole::LocalSource recorded(SourceId id) {
    auto& random = simulation_.random();
    auto buffers = make_stream(of_.hits[id.value], of_.base.epoch_ticks,
                               [&] { return static_cast<std::uint32_t>(1 + random() % 3); });
    for (auto& buffer : buffers) {
      if (of_.damaged && random() % 4 == 0) buffer.bytes.back() ^= std::byte{1};
    }
    return {id, std::make_unique<RecordedStream>(id, of_.base, std::move(buffers),
                                                 [this, id](EpochRange epochs) { collected(id, epochs); })};
  }

  SourceRole::LocalSource live(SourceId id) {
    auto feed = std::make_unique<ScriptedFeed>(id, of_.base, of_.arrivals[id.value],
                                               [this] { return simulation_.now_ns() - begun_; });
    auto stream = std::make_unique<FeedStream>(std::move(feed), FeedStream::Settings{});
    stream->fix_header();
    auto* as_live = stream.get();
    return {id, std::move(stream), as_live};
  }

  void collected(SourceId id, EpochRange epochs) {
    if (id.value == 0 && of_.source_fails_after != 0 && ++collects_ > of_.source_fails_after) {
      throw UserError("the input is broken");
    }
    const auto geometry = of_.geometry();
    const auto slice = geometry.slice_of(epochs.end - 1 - geometry.margin_epochs());
    outcome_.sent_at.try_emplace(slice.value, simulation_.now_ns() - begun_);
  }

  const RunCase& of_;
  Simulation& simulation_;
  SimulatedRank& rank_;
  Outcome& outcome_;
  RunControl* control_ = nullptr;
  std::vector<std::unique_ptr<Collector>> sinks_;
  std::int64_t begun_ = 0;
  std::uint64_t collects_ = 0;
};

/// Adds hits to the columns of a slice.
void add_event(BuiltSlice& slice, const RefEvent& event) {
  slice.events.time.push_back(event.first());
  slice.events.duration.push_back(event.last() - event.first());
  slice.events.n_hits.push_back(static_cast<std::uint32_t>(event.hits.size()));
  slice.events.flags.push_back(event.truncated ? std::uint32_t{kTruncated} : 0);
  for (const auto& hit : event.hits) {
    slice.hits.time.push_back(hit.time);
    slice.hits.channel.push_back(hit.channel);
    slice.hits.source.push_back(hit.source);
  }
}

std::string difference(const BuiltSlice& found, const BuiltSlice& wanted) {
  const auto& a = found.ledger;
  const auto& b = wanted.ledger;
  if (a.hits_in != b.hits_in) return "hits_in";
  if (a.hits_in_events != b.hits_in_events) return "hits_in_events";
  if (a.hits_outside != b.hits_outside) return "hits_outside";
  if (a.hits_rejected != b.hits_rejected) return "hits_rejected";
  if (a.dropped() != 0) return "hits_dropped";
  if (found.events.time != wanted.events.time) return "the times of events";
  if (found.events.duration != wanted.events.duration) return "durations";
  if (found.events.n_hits != wanted.events.n_hits) return "n_hits";
  if (found.events.flags != wanted.events.flags) return "flags";
  if (found.hits.time != wanted.hits.time || found.hits.channel != wanted.hits.channel) return "hits";
  if (found.hits.source != wanted.hits.source) return "the sources of hits";
  return found.sources_missing.empty() && found.losses.empty() ? "" : "losses";
}

/// Who has built and written a slice, against the schedule.
std::string wrong_place(const RunCase& of, Scheduler& schedule, const Outcome& outcome, const WrittenSlice& written) {
  const auto slice = written.slice.slice();
  const BuilderId builder{written.slice.ledger.builder};
  const auto writer = of.roles.filters == 0 ? builder.value : slice.value % of.roles.filters;
  if (written.writer != writer) return "the writer";
  if (outcome.built_on.at(slice.value) != of.roles.rank_of(builder)) return "the builder's rank";
  const bool given = schedule.claims() != nullptr || schedule.next_slice(builder, slice) == slice;
  return given ? "" : "the builder";
}

}  // namespace

SliceGeometry RunCase::geometry() const {
  return {base, epochs_per_slice, overlap, parse_event_definition(definition, base.tick_ps)->traits().reach};
}

Outcome play(const RunCase& of) {
  Simulation simulation(of.simulation);
  Outcome outcome;
  outcome.errors.resize(static_cast<std::size_t>(of.roles.ranks));
  for (const auto& arrivals : of.arrivals) {
    for (const auto& arrival : arrivals) simulation.expect(simulation.now_ns() + arrival.time_ns);
  }
  simulation.play([&](SimulatedRank& rank) {
    try {
      Player(of, simulation, rank, outcome).play();
    } catch (const UserError& e) {
      outcome.errors[static_cast<std::size_t>(rank.number())] = e.what();
    }
  });
  return outcome;
}

std::map<std::uint64_t, BuiltSlice> expected_slices(const RunCase& of) {
  std::map<std::uint64_t, BuiltSlice> slices;
  const auto slice_at = [&](Tick time) -> BuiltSlice& { return slices[time / of.geometry().slice_ticks()]; };
  for (const auto& stream : of.hits) {
    for (const auto& hit : stream) {
      auto& row = slice_at(hit.time).ledger;
      ++row.hits_in;
      ++row.hits_outside;
    }
  }
  for (const auto& event : reference_events(of.hits, of.definition, of.overlap)) {
    const bool rejected = event.hits.size() < of.least_hits;
    for (const auto& hit : event.hits) {
      auto& row = slice_at(hit.time).ledger;
      --row.hits_outside;
      ++(rejected ? row.hits_rejected : row.hits_in_events);
    }
    if (!rejected) add_event(slice_at(event.first()), event);
  }
  return slices;
}

std::string difference(const RunCase& of, const Outcome& outcome, bool stopped) {
  if (!outcome.faults.empty()) return outcome.faults.front();
  auto settings = wiring_settings(of).schedule;
  settings.n_sources = of.roles.sources;
  settings.n_builders = of.roles.builders;
  const auto schedule = make_scheduler(settings);
  const auto last = outcome.slices.empty() ? of.first_slice.value : outcome.slices.rbegin()->first;
  const auto finished = finished_set(of);
  std::uint64_t found = 0;
  for (const auto& [number, wanted] : expected_slices(of)) {
    if (number < of.first_slice.value || finished.contains({number}) || (stopped && number > last)) continue;
    const auto at = "slice " + std::to_string(number) + ": ";
    const auto written = outcome.slices.find(number);
    if (written == outcome.slices.end()) return at + "is not there";
    auto wrong = difference(written->second.slice, wanted);
    if (wrong.empty()) wrong = wrong_place(of, *schedule, outcome, written->second);
    if (!wrong.empty()) return at + wrong;
    ++found;
  }
  return found == outcome.slices.size() ? "" : "slices are there that should not be";
}

std::string text_of(const RunCase& of) {
  std::ostringstream text;
  text << "seed " << of.simulation.seed << ": " << of.roles.ranks << " ranks, " << of.roles.sources << " sources, "
       << of.roles.builders << " builders, " << of.roles.filters << " filters, " << of.schedule << ", " << of.definition
       << ", overlap " << of.overlap << ", " << of.epochs_per_slice << " epochs per slice, ring " << of.ring.depth
       << " x " << of.ring.cell_bytes << ", " << of.slices_in_flight << " in flight";
  return text.str();
}

}  // namespace eventloom::test
