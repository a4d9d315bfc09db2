#include "app/run/rank_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/detector/channel_use.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/threads.hpp"

namespace eventloom {

namespace {

/// Messages of one kind before the counters must do.
constexpr std::uint64_t kTold = 10;
constexpr std::uint64_t kToldOfSource = 100;

/// After this time plus --flush-after live sources count as having no data for the waiting slice.
constexpr std::chrono::seconds kSilence{1};

SliceBuilderSettings building_settings(const RunConfig& config, const RunSetup& setup) {
  SliceBuilderSettings building{setup.run.geometry, setup.run.events, {}, setup.with_payload};
  for (const auto& stream : setup.streams) building.payload.push_back(stream.payload);
  for (const auto& source : setup.sources) building.stream_flags.push_back(source.flags);
  building.sorted = setup.sorted;
  if (setup.live) {
    for (const auto& stream : setup.streams) building.live.push_back(stream.live ? 1 : 0);
  }
  building.detector = setup.run.detector;
  if (!config.save_sorted.empty()) building.save_bin_ticks = histogram_ticks(setup.run);
  return building;
}

LivePatience patience(const RunConfig& config, const RunSetup& setup) {
  LivePatience patience;
  patience.epoch_timeout = config.epoch_timeout;
  patience.stall_warning = config.stall_warning;
  if (!setup.numbered) {
    patience.epochs_per_second = epochs_per_second(setup.run.geometry.base);
    if (config.flush_after.count() > 0) patience.quiet = config.flush_after + kSilence;
  }
  patience.alone = std::ranges::count_if(setup.streams, &SourceInfo::live) == 1;
  return patience;
}

WiringSettings wiring_settings(const RunConfig& config, const RunSetup& setup) {
  WiringSettings settings;
  settings.roles = setup.roles;
  settings.ring = setup.ring.geometry();
  settings.schedule.name = config.schedule;
  settings.schedule.table_text = setup.schedule_table;
  settings.schedule.slot_ns = config.slot_ns;
  settings.schedule.first_slice = setup.first_slice;
  settings.slices_in_flight = config.slices_in_flight;
  settings.transfers_in_flight = config.transfers_in_flight;
  settings.finished = setup.finished;
  return settings;
}

}  // namespace

SessionSettings session_settings(const RunConfig& config, const RunSetup& setup) {
  SessionSettings settings;
  settings.wiring = wiring_settings(config, setup);
  settings.building = building_settings(config, setup);
  settings.filter = setup.run.filter;
  settings.builder_threads = builder_threads();
  settings.speed = config.speed;
  settings.patience = patience(config, setup);
  settings.duration = setup.time_over ? std::chrono::nanoseconds(1) : config.duration;
  settings.live = setup.live;
  settings.all_live = setup.all_live;
  settings.telemetry.pictures = config.monitor.has_value();
  settings.telemetry.counters = config.monitor || config.progress != ProgressStyle::none || !config.alarms.empty();
  settings.telemetry.started_ns = setup.started_ns;
  settings.telemetry.tick_ps = setup.run.geometry.base.tick_ps;
  return settings;
}

RankRun::RankRun(const RunConfig& config, RunSetup& setup, const std::vector<Resumption>& resumptions, RunTaps& taps,
                 Session& session)
    : config_(config), setup_(setup), resumptions_(resumptions), taps_(taps), session_(session) {
  if (setup.started_ns != 0) latency_.emplace(setup.started_ns, setup.run.geometry.base.tick_ps);
  SessionEnds ends;
  ends.sinks_of = [this](std::uint32_t writer) { return add_writers(writer); };
  if (!config_.save_sorted.empty()) ends.sorted_sink_of = [this](BuilderId id) { return keep_sorted(id); };
  if (latency_) ends.watch_built = [this](const BuiltSlice& slice) { latency_->add(slice); };
  if (config.explain != 0) {
    const ExplainedEvents none(setup.run.filter, config.explain, setup.numbered ? 0 : setup.run.geometry.base.tick_ps);
    explained_.assign(config.define.size(), none);
    ends.watch_unselected = [this](std::span<const BuiltSlice> built) {
      for (std::size_t i = 0; i < built.size(); ++i) explained_[i].add(built[i]);
    };
  }
  ends.new_file = [this] {
    for (auto& writer : writers_) writer.to->begin_part();
  };
  ends.count = [this](Counters& counters) { taps_.add_to(counters); };
  ends.report = [this](const BuildProblem& p) { report(p); };
  session_.begin(std::move(ends), std::move(setup.local));
}

/// Work remains for a resumed run.
bool RankRun::unfinished() const {
  const auto* sources = session_.sources();
  const bool cut_off = sources != nullptr && sources->report().cut_off() && !session_.control().ended();
  return cut_off || std::ranges::any_of(writers_, [](const Writer& writer) { return writer.to->failed(); });
}

std::vector<RunResult> RankRun::close() {
  std::vector<RunResult> results(config_.define.size());
  taps_.end();
  close_writers(results);
  leave_scratch();
  taps_.join();
  if (auto* sources = session_.sources()) sources->live().close();
  const auto common = common_result();
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto parts = std::move(results[i].parts);
    auto totals = std::move(results[i].totals);
    results[i] = common;
    results[i].parts = std::move(parts);
    results[i].totals.add(totals);
    if (!explained_.empty()) results[i].explained = explained_[i].texts();
  }
  agree(session_.ranks(), [&] {
    if (!common.unfinished) finish_sorted(results.front());
  });
  return results;
}

void RankRun::close_writers(std::vector<RunResult>& results) {
  for (auto& writer : writers_) {
    auto& result = results[writer.definition];
    for (const auto& part : writer.to->close()) {
      result.parts.push_back(part.info);
      result.totals.add(part.totals);
    }
  }
}

/// What does not depend on the definition. Collective.
RunResult RankRun::common_result() {
  RunResult result;
  const auto* sources = session_.sources();
  result.unfinished = session_.ranks().any(unfinished());
  if (latency_) result.latency = latency_->histogram();
  taps_.add_to(result.totals.counters);
  if (auto* clock = session_.wiring().clock()) result.clocks = clock->qualities();
  ChannelUse use(*setup_.run.detector);
  session_.add_to(use);
  result.channels_seen.assign(use.bits().begin(), use.bits().end());
  if (sources != nullptr) {
    result.totals.counters.add(sources->report().counters());
    result.input_cut = sources->report().cut_off_recorded();
    sources->report().add_counts(result.sources);
    sources->report().add_remarks(result.remarks);
  }
  return result;
}

/// The last writer of the host that ends removes the folder.
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

std::vector<EventSink*> RankRun::add_writers(std::uint32_t number) {
  std::vector<EventSink*> sinks;
  for (std::size_t i = 0; i < config_.define.size(); ++i) sinks.push_back(&add_writer(number, i));
  sinks.front() = &tapped(number, *sinks.front());
  return sinks;
}

EventSink& RankRun::tapped(std::uint32_t number, EventSink& writer) {
  auto* const tap = taps_.of(number);
  if (tap == nullptr) return writer;
  return *tapped_.emplace_back(std::make_unique<TappedSink>(writer, *tap, resumptions_.front().finished));
}

EventSink& RankRun::add_writer(std::uint32_t number, std::size_t definition) {
  const auto& resumption = resumptions_[definition];
  PartWriterSettings settings;
  settings.run_file = config_.define[definition].output;
  settings.writer = number;
  settings.base = setup_.run.geometry.base;
  settings.n_sources = setup_.sources.size();
  settings.with_payload = setup_.with_payload && !config_.no_payload;
  settings.numbered = setup_.numbered;
  settings.compress = config_.compress;
  settings.segment_bytes = config_.segment_bytes;
  settings.segment_time = config_.segment_time;
  if (!config_.scratch.empty()) settings.scratch = scratch_folder(config_.scratch, config_.output);
  const auto found = resumption.writers.find(number);
  const auto place = found == resumption.writers.end() ? WriterPlace{} : found->second;
  settings.list = place.list;
  settings.first_segment = place.next_segment;
  settings.companions = companions_of(number, config_.define[definition], place);
  auto writer = std::make_unique<ResumableWriter>(std::move(settings), resumption.finished,
                                                  [this](const auto& why) { session_.control().stop_writing(why); });
  writers_.push_back({definition, std::move(writer)});
  return *writers_.back().to;
}

CompanionSettings RankRun::companions_of(std::uint32_t writer, const DefineOption& define,
                                         const WriterPlace& place) const {
  CompanionSettings settings{{}, setup_.event_files, place.events + 1, config_.force};
  for (const auto& target : define.also) {
    const auto next = place.next_files.find(target.extension());
    settings.outputs.push_back(
        {target_of_writer(target, writer, setup_.roles.writers()), next == place.next_files.end() ? 0 : next->second});
  }
  return settings;
}

std::function<void(const SortedSlice&)> RankRun::keep_sorted(BuilderId id) {
  sorted_.push_back(std::make_unique<SortedWriter>(config_.save_sorted, id.value, setup_.run.geometry.base,
                                                   "time-sorted hits of " + config_.output));
  return [writer = sorted_.back().get()](const SortedSlice& slice) { writer->write(slice); };
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
