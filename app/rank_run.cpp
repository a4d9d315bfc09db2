#include "app/rank_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "app/filter_role.hpp"
#include "app/mpi_command.hpp"
#include "app/progress.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/threads.hpp"

namespace eventloom {

namespace {

/// Messages of one kind before the counters must do.
constexpr std::uint64_t kTold = 10;
constexpr std::uint64_t kToldOfSource = 100;

/// After so long and --flush-after live sources are taken to have nothing for the slice that waits.
constexpr std::chrono::seconds kSilence{1};

}  // namespace

WiringSettings wiring_settings(const RunConfig& config, const RunSetup& setup) {
  WiringSettings settings;
  settings.roles = setup.roles;
  settings.ring = config.ring;
  settings.schedule.name = config.schedule;
  settings.schedule.slot_ns = config.slot_ns;
  settings.schedule.first_slice = setup.first_slice;
  settings.slices_in_flight = config.slices_in_flight;
  settings.finished = setup.finished;
  return settings;
}

RankRun::RankRun(const RunConfig& config, RunSetup& setup, const Resumption& resumption, RunControl& control,
                 Wiring& wiring, const Collective& ranks)
    : config_(config), setup_(setup), resumption_(resumption), control_(control), ranks_(ranks), wiring_(wiring) {
  if (setup.started_ns != 0) latency_.emplace(setup.started_ns, setup.meaning.geometry.base.tick_ps);
  agree(ranks, [&] {
    for (std::uint32_t f = 0; f < setup.roles.filters; ++f) add_filter({f});
    for (std::uint32_t b = 0; b < setup.roles.builders; ++b) add_builder({b});
  });
  add_sources(wiring_.start_clock());
  control_.set_sources(sources_);
}

void RankRun::work() {
  std::vector<Role*> roles;
  for (const auto& role : roles_) roles.push_back(role.get());
  Progress progress(ranks_.rank() == 0);
  wiring_.run(roles, control_, Idle(), [&](SteadyTime now) {
    if (sources_ != nullptr) progress.update(now, sources_->slices_sent(), sources_->slices_expected());
  });
  progress.finish();
  agree(ranks_, [&] {
    if (!control_.error().empty()) throw UserError(control_.error());
  });
}

/// Something is left to be built by a run that goes on.
bool RankRun::unfinished() const {
  const bool cut_off = sources_ != nullptr && sources_->cut_off() && !control_.ended();
  return cut_off || std::ranges::any_of(writers_, [](const auto& writer) { return writer->failed(); });
}

RunResult RankRun::close() {
  RunResult result;
  for (auto& writer : writers_) {
    for (const auto& part : writer->close()) {
      result.parts.push_back(part.info);
      result.totals.add(part.totals);
    }
  }
  leave_scratch();
  if (sources_ != nullptr) sources_->live().close();
  result.unfinished = ranks_.any(unfinished());
  agree(ranks_, [&] {
    if (!result.unfinished) finish_sorted(result);
  });
  if (latency_) result.latency = latency_->histogram();
  if (auto* clock = wiring_.clock()) result.clocks = clock->qualities();
  if (sources_ != nullptr) {
    result.sent = sources_->count();
    result.hits_read = sources_->hits_read();
    result.input_cut = sources_->cut_off_recorded();
    result.totals.anomalies = sources_->anomalies();
    sources_->add_counts(result.sources);
  }
  return result;
}

/// The last writer of the host that ends takes the folder away.
void RankRun::leave_scratch() {
  if (config_.scratch.empty() || writers_.empty()) return;
  std::error_code still_in_use;
  std::filesystem::remove(scratch_folder(config_.scratch, config_.output), still_in_use);
}

void RankRun::finish_sorted(RunResult& result) {
  for (auto& writer : sorted_) {
    result.sorted_files.push_back(writer->finish());
    const auto& damage = writer->damage();
    result.sorted_damage.insert(result.sorted_damage.end(), damage.begin(), damage.end());
  }
}

Selector RankRun::add_writer(std::uint32_t number) {
  PartWriterSettings settings;
  settings.run_file = config_.output;
  settings.writer = number;
  settings.base = setup_.meaning.geometry.base;
  settings.n_sources = setup_.sources.size();
  settings.with_payload = setup_.with_payload;
  settings.compress = config_.compress;
  settings.segment_bytes = config_.segment_bytes;
  settings.segment_time = config_.segment_time;
  if (!config_.scratch.empty()) settings.scratch = scratch_folder(config_.scratch, config_.output);
  const auto place = resumption_.writers.find(number);
  const bool goes_on = place != resumption_.writers.end();
  settings.list = goes_on ? place->second.list : PartListPlace{};
  settings.first_segment = goes_on ? place->second.next_segment : 0;
  writers_.push_back(std::make_unique<ResumableWriter>(std::move(settings),
                                                       [this](const std::string& why) { control_.stop_writing(why); }));
  return {setup_.meaning.filter, *writers_.back()};
}

void RankRun::add_filter(FilterId id) {
  if (!wiring_.here(id)) return;
  FilterRoleSettings settings{
      id, setup_.first_slice, setup_.finished, setup_.roles.filters, setup_.roles.builders, config_.slices_in_flight};
  roles_.push_back(std::make_unique<FilterRole>(std::move(settings), wiring_.filter_inboxes(id), add_writer(id.value)));
}

void RankRun::add_builder(BuilderId id) {
  if (!wiring_.here(id)) return;
  BuilderRoleSettings settings;
  settings.id = id;
  settings.first_slice = setup_.first_slice;
  settings.finished = setup_.finished;
  settings.n_sources = setup_.roles.sources;
  settings.n_builders = setup_.roles.builders;
  settings.slices_in_flight = config_.slices_in_flight;
  settings.threads = builder_threads();
  settings.claims = wiring_.claims();
  SliceBuilderSettings building{setup_.meaning.geometry, setup_.meaning.definition, {}, setup_.with_payload};
  for (const auto& stream : setup_.streams) building.payload.push_back(stream.payload);
  for (const auto& source : setup_.sources) building.stream_flags.push_back(source.flags);
  building.sorted = setup_.sorted;
  if (!config_.save_sorted.empty()) keep_sorted(id, settings, building);
  if (latency_) settings.watch_built = [this](const BuiltSlice& slice) { latency_->add(slice); };
  roles_.push_back(std::make_unique<BuilderRole>(std::move(settings), building, wiring_.scheduler(),
                                                 Inbox(wiring_.builder_rings(id)), output_of(id),
                                                 [this](const BuildProblem& p) { report(p); }));
}

void RankRun::keep_sorted(BuilderId id, BuilderRoleSettings& settings, SliceBuilderSettings& building) {
  building.save_bin_ticks = histogram_ticks(setup_.meaning);
  sorted_.push_back(std::make_unique<SortedWriter>(config_.save_sorted, id.value, setup_.meaning.geometry.base,
                                                   "time-sorted hits of " + config_.output));
  settings.keep_sorted = [writer = sorted_.back().get()](const SortedSlice& slice) { writer->write(slice); };
}

std::unique_ptr<SliceOutput> RankRun::output_of(BuilderId id) {
  if (setup_.roles.filters == 0) return std::make_unique<LocalOutput>(add_writer(id.value));
  return std::make_unique<FilterOutput>(wiring_.filter_outboxes(id));
}

void RankRun::add_sources(std::function<std::int64_t()> since_start) {
  if (setup_.local.empty()) return;
  SourceRoleSettings settings;
  settings.geometry = setup_.meaning.geometry;
  settings.first_slice = setup_.first_slice;
  settings.finished = setup_.finished;
  settings.n_builders = setup_.roles.builders;
  settings.max_lead = 2 * std::uint64_t{config_.slices_in_flight} * setup_.roles.builders;
  settings.speed = config_.speed;
  const auto& geometry = setup_.meaning.geometry;
  settings.patience.epoch_timeout = config_.epoch_timeout;
  settings.patience.stall_warning = config_.stall_warning;
  settings.patience.passed_at_end = geometry.epochs_per_slice + 2 * geometry.margin_epochs();
  settings.patience.margin = geometry.margin_epochs();
  if (!setup_.numbered) {
    settings.patience.epochs_per_second = epochs_per_second(geometry.base);
    if (config_.flush_after.count() > 0) settings.patience.quiet = config_.flush_after + kSilence;
  }
  settings.patience.begin = geometry.owned_epochs(setup_.first_slice).begin;
  settings.patience.alone = std::ranges::count_if(setup_.streams, &SourceFacts::live) == 1;
  settings.since_start = std::move(since_start);
  auto role = std::make_unique<SourceRole>(std::move(settings), wiring_.scheduler(), std::move(setup_.local),
                                           wiring_.source_outboxes());
  sources_ = role.get();
  roles_.push_back(std::move(role));
}

void RankRun::report(const BuildProblem& problem) {
  if (problem.damage.cause == DropCause::out_of_step) {
    if (++told_out_of_step_ > kTold) return;
    spdlog::error("{}: {}; its {} hits are dropped{}", setup_.sources[problem.source.value].name, problem.reason,
                  problem.damage.n_hits,
                  told_out_of_step_ == kTold ? "; further messages are suppressed; all are counted" : "");
    return;
  }
  auto& told = told_[problem.source.value];
  if (++told > kToldOfSource) return;
  if (told == kToldOfSource)
    spdlog::error("{}: further messages are suppressed; all are counted", setup_.streams[problem.source.value].name);
  spdlog::error("{}: offset {}: {}; an epoch buffer of {} hits from epoch {} on is dropped",
                setup_.streams[problem.source.value].name, problem.damage.file_offset, problem.reason,
                problem.damage.n_hits, problem.damage.first_epoch);
}

}  // namespace eventloom
