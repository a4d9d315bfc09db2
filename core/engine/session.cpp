#include "core/engine/session.hpp"

#include <algorithm>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/engine/builder_role.hpp"
#include "core/engine/filter_role.hpp"

namespace eventloom {

namespace {

/// Maximum number of builders with which sources lend data. With more, a rank's own builder gets few of its data, but
/// until it gives a slice back, the rank keeps the later data of all builders.
constexpr std::uint32_t kMostThatLend = 4;

/// See LentSlices. Simulations have nothing to lend.
std::vector<std::uint8_t> borrowers(const Wiring& wiring) {
  const auto& settings = wiring.settings();
  std::vector<std::uint8_t> here;
  if (settings.bodies == Bodies::counted || settings.roles.builders > kMostThatLend) return here;
  for (std::uint32_t b = 0; b < settings.roles.builders; ++b) here.push_back(wiring.here(BuilderId{b}) ? 1 : 0);
  return here;
}

}  // namespace

Session::Session(SessionSettings settings, const SessionHost& host)
    : settings_(std::move(settings)),
      ranks_(host.network.ranks()),
      control_(host.watch, settings_.duration, host.network),
      wiring_(settings_.wiring, host.network, host.idle, host.clock),
      lent_(borrowers(wiring_), std::min<std::uint64_t>(kCopiedBelow, settings_.wiring.ring.cell_bytes)),
      clock_(host.clock),
      idle_(host.idle) {
  if (settings_.telemetry.counters) {
    settings_.telemetry.writers = wiring_.roles().writers();
    telemetry_ = std::make_unique<Telemetry>(host.network, settings_.telemetry);
    telemetry_->set_counting([this](RankRecord& record) { count(record); });
    if (settings_.telemetry.pictures && settings_.building.histograms) open_feed(host.network);
  }
  if (!settings_.live) return;
  control_.set_live(settings_.all_live, settings_.wiring.schedule.first_slice, settings_.building.geometry,
                    total_span(offsets()));
}

void Session::open_feed(Network& network) {
  const auto n = settings_.building.histograms->specs().size();
  histograms_ = std::make_unique<HistogramFeed>(
      network, settings_.building.histograms, settings_.building.events.size(), wiring_.roles().writer_ranks(),
      [this, n](std::size_t histogram, std::size_t begin, std::span<std::uint64_t> cells) {
        ends_->add_cells(histogram / n, histogram % n, begin, cells);
      });
}

void Session::begin(SessionEnds& ends, std::vector<LocalSource> sources) {
  ends_ = &ends;
  agree(ranks_, [&] {
    for (std::uint32_t f = 0; f < wiring_.roles().filters; ++f) add_filter({f});
    for (std::uint32_t b = 0; b < wiring_.roles().builders; ++b) add_builder({b});
  });
  add_sources(std::move(sources), wiring_.start_clock());
  control_.set_sources(sources_, settings_.speed);
  control_.set_new_file([&ends] { ends.new_file(); });
  control_.set_reset([this] {
    if (histograms_) histograms_->reset();
  });
}

void Session::run(std::vector<TurnTask*> tasks) {
  std::vector<Role*> roles;
  for (const auto& role : roles_) roles.push_back(role.get());
  if (telemetry_) tasks.insert(tasks.begin(), this);
  wiring_.run(roles, control_, std::move(tasks));
  if (telemetry_) telemetry_->finish(clock_(), idle_);
  if (histograms_) histograms_->finish(clock_(), idle_);
  agree(ranks_, [&] {
    if (!control_.error().empty()) throw UserError(control_.error());
  });
}

void Session::turn(SteadyTime now) {
  telemetry_->do_work(now, control_.rounds());
  if (histograms_) histograms_->do_work(now);
}

void Session::add_filter(FilterId id) {
  if (!wiring_.here(id)) return;
  const auto& wired = wiring_.settings();
  FilterRoleSettings filter{id,
                            wired.schedule.first_slice,
                            wired.finished,
                            wired.roles.filters,
                            wired.roles.builders,
                            wired.in_flight.slices};
  roles_.push_back(std::make_unique<FilterRole>(std::move(filter), wiring_.filter_inboxes(id), selector_of(id.value)));
}

void Session::add_builder(BuilderId id) {
  if (!wiring_.here(id)) return;
  const auto& wired = wiring_.settings();
  BuilderRoleSettings builder;
  builder.id = id;
  builder.first_slice = wired.schedule.first_slice;
  builder.finished = wired.finished;
  builder.n_sources = wired.roles.sources;
  builder.n_builders = wired.roles.builders;
  builder.slices_in_flight = wired.in_flight.slices;
  builder.threads = settings_.builder_threads;
  builder.claims = wiring_.claims();
  builder.gives_way = sending_first();
  builder.keep_sorted = ends_->sorted_sink_of(id);
  builder.watch_built = [this](const BuiltSlice& slice) { ends_->watch_built(slice); };
  builder.lent = &lent_;
  builder.measures = settings_.telemetry.counters;
  if (wired.bodies == Bodies::counted) {
    builder.stand_in = [this, id](SliceId slice, const SliceAssembly& input) { ends_->stand_in(id, slice, input); };
  }
  const auto step = std::max<std::uint64_t>(std::uint64_t{wired.in_flight.slices} * wired.roles.builders / 2, 1);
  auto role = std::make_unique<BuilderRole>(std::move(builder), settings_.building, wiring_.scheduler(),
                                            Inbox(wiring_.builder_rings(id), step), output_of(id),
                                            [this](const BuildProblem& problem) { ends_->report(problem); });
  builders_.push_back(role.get());
  roles_.push_back(std::move(role));
}

/// Source ranks send before they build: build-only ranks wait for their data, and claim what their builders leave. If
/// build-only ranks were few, all would wait for each other's claims: 64 simulated nodes were five times as slow.
std::function<bool()> Session::sending_first() {
  if (wiring_.claims() == nullptr || !wiring_.roles().others_can_build()) return {};
  return [this] { return sources_ != nullptr && sources_->sends_at_full_rate(); };
}

std::unique_ptr<SliceOutput> Session::output_of(BuilderId id) {
  if (wiring_.roles().filters != 0) return std::make_unique<FilterOutput>(wiring_.filter_outboxes(id));
  return std::make_unique<LocalOutput>(selector_of(id.value));
}

/// Telemetry watches only the first kind of events.
Selector Session::selector_of(std::uint32_t writer) {
  auto sinks = ends_->sinks_of(writer);
  if (telemetry_) sinks.front() = &telemetry_->watch(writer, *sinks.front());
  return {settings_.filter, std::move(sinks),
          [this](std::span<const BuiltSlice> built) { ends_->watch_unselected(built); }, ends_->judge_of(writer)};
}

/// Counts what the sinks do not see.
void Session::count(RankRecord& record) const {
  if (sources_ != nullptr) sources_->report().add_to(record);
  for (const auto* builder : builders_) record.builders[builder->built().builder] = builder->built();
  ends_->count(record.counters);
}

void Session::add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const {
  for (const auto* builder : builders_) builder->add_to(use, unplaced, spans);
}

const RunPicture* Session::picture() const {
  return telemetry_ && ranks_.rank() == 0 ? &telemetry_->picture() : nullptr;
}

std::vector<OffsetSpan> Session::offsets() const {
  const auto& building = settings_.building;
  return stream_offsets(*building.detector, building.sorted.has_value(), building.payload.size());
}

/// Sources corrected by different offsets are that far apart in time.
LivePatience Session::patience_for(const SourceRoleSettings& sending) const {
  const auto& geometry = sending.geometry;
  const auto offsets = total_span(sending.offsets);
  const Epoch apart = epoch_of(offsets.width(), geometry.base.epoch_ticks) + 1;
  LivePatience patience = settings_.patience;
  patience.passed_at_end =
      Epoch(geometry.epochs_per_slice) + 2 * geometry.margin_epochs() + (offsets.none() ? 0 : apart);
  patience.begin =
      all_corrected_before(geometry.owned_epochs(sending.first_slice).begin, offsets, geometry.base.epoch_ticks);
  if (patience.quiet.count() != 0 && patience.epochs_per_second > 0) {
    const double longer = static_cast<double>(offsets.width()) / geometry.base.epoch_ticks / patience.epochs_per_second;
    patience.quiet += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(longer));
  }
  return patience;
}

void Session::add_sources(std::vector<LocalSource> sources, std::function<std::int64_t()> since_start) {
  if (sources.empty()) return;
  const auto& wired = wiring_.settings();
  SourceRoleSettings sending;
  sending.geometry = settings_.building.geometry;
  sending.first_slice = wired.schedule.first_slice;
  sending.finished = wired.finished;
  sending.n_builders = wired.roles.builders;
  sending.max_lead = 2 * std::uint64_t{wired.in_flight.slices} * wired.roles.builders;
  sending.transfers_in_flight = wired.in_flight.transfers;
  sending.speed = settings_.speed;
  sending.since_start = std::move(since_start);
  sending.offsets = offsets();
  sending.patience = patience_for(sending);
  sending.lent = &lent_;
  auto role = std::make_unique<SourceRole>(std::move(sending), wiring_.scheduler(), std::move(sources),
                                           wiring_.source_outboxes());
  sources_ = role.get();
  roles_.push_back(std::move(role));
}

}  // namespace eventloom
