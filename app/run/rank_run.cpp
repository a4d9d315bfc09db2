#include "app/run/rank_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/run/hit_notes_of_run.hpp"
#include "core/control/agreement.hpp"
#include "core/detector/channel_use.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/threads.hpp"

namespace eventloom {

namespace {

/// Maximum number of messages about the epoch buffers of a source; beyond it they are only counted.
constexpr std::uint64_t kReportedOfSource = 100;

/// Live sources silent for --flush-after plus this time count as having no data for the waiting slice.
constexpr std::chrono::seconds kSilence{1};

SliceBuilderSettings slice_builder_settings(const RunSetup& setup) {
  SliceBuilderSettings building{setup.run.geometry, setup.run.events, {}, setup.with_payload};
  for (const auto& stream : setup.streams) building.payload.push_back(stream.payload);
  for (const auto& source : setup.sources) building.stream_flags.push_back(source.flags);
  building.sorted = setup.sorted;
  if (setup.live) {
    for (const auto& stream : setup.streams) building.live.push_back(stream.live ? 1 : 0);
  }
  building.detector = setup.run.detector;
  building.histograms = setup.run.histograms;
  building.stretch = setup.run.stretch;
  building.save_bin_ticks = histogram_ticks(setup.run);
  return building;
}

LivePatience patience(const SourceSettings& sources, std::chrono::nanoseconds flush_after, const RunSetup& setup) {
  LivePatience patience;
  patience.epoch_timeout = sources.epoch_timeout;
  patience.stall_warning = sources.stall_warning;
  if (!setup.numbered) {
    patience.epochs_per_second = epochs_per_second(setup.run.geometry.base);
    if (flush_after.count() > 0) patience.quiet = flush_after + kSilence;
  }
  patience.alone = std::ranges::count_if(setup.streams, &SourceInfo::live) == 1;
  return patience;
}

}  // namespace

SessionSettings session_settings(const SourceSettings& sources, const BuildingSettings& building,
                                 const ExchangeSettings& exchange, const ViewSettings& view, const RunSetup& setup) {
  SessionSettings settings;
  settings.wiring = {setup.roles, setup.ring.geometry(), setup.schedule, exchange.in_flight, setup.finished};
  settings.wiring.schedule.first_slice = setup.first_slice;
  settings.building = slice_builder_settings(setup);
  settings.filter = setup.run.filter;
  settings.builder_threads = builder_threads();
  settings.speed = sources.speed;
  settings.patience = patience(sources, building.flush_after, setup);
  settings.duration = setup.time_over ? std::chrono::nanoseconds(1) : sources.duration;
  settings.live = setup.live;
  settings.all_live = setup.all_live && !setup.any_followed;
  settings.telemetry.pictures = view.monitor.has_value();
  settings.telemetry.counters = view.monitor || view.progress != ProgressStyle::none || !view.alarms.empty();
  settings.telemetry.started_ns = setup.started_ns;
  settings.telemetry.tick_ps = setup.run.geometry.base.tick_ps;
  return settings;
}

RankRun::RankRun(const OutputSettings& output, RunSetup& setup, const std::vector<Resumption>& resumptions,
                 RunTaps& taps, RunReplies& replies, Session& session)
    : output_(output), setup_(setup), resumptions_(resumptions), taps_(taps), replies_(replies), session_(session) {
  if (setup.started_ns != 0) latency_.emplace(setup.started_ns, setup.run.geometry.base.tick_ps);
  if (output.explain != 0) {
    const ExplainedEvents none(setup.run.filter, output.explain, setup.numbered ? 0 : setup.run.geometry.base.tick_ps);
    explained_.assign(output.runs.size(), none);
  }
  session_.begin(*this, std::move(setup.local));
}

void RankRun::watch_built(const BuiltSlice& slice) {
  if (latency_) latency_->add(slice);
}

void RankRun::watch_unselected(std::span<const BuiltSlice> built) {
  for (std::size_t i = 0; i < explained_.size(); ++i) explained_[i].add(built[i]);
}

void RankRun::new_file() {
  for (auto& writer : writers_) writer.to->begin_part();
}

void RankRun::add_cells(std::size_t kind, std::size_t histogram, std::size_t begin,
                        std::span<std::uint64_t> cells) const {
  for (const auto& writer : writers_) {
    if (writer.definition == kind) writer.to->parts().add_cells(histogram, begin, cells);
  }
}

/// Whether work remains for a resumed run.
bool RankRun::unfinished() const {
  const auto* sources = session_.sources();
  const bool cut_off = sources != nullptr && sources->report().cut_off() && !session_.control().ended();
  return cut_off || std::ranges::any_of(writers_, [](const Writer& writer) { return writer.to->failed(); }) ||
         std::ranges::any_of(filter_commands_, [](const auto& command) { return command->failed(); });
}

std::vector<RunResult> RankRun::close() {
  std::vector<RunResult> results(output_.runs.size());
  taps_.end();
  for (auto& command : filter_commands_) command->finish();
  for (auto& writer : writers_) {
    auto& result = results[writer.definition];
    for (const auto& part : writer.to->close()) {
      result.parts.push_back(part.info);
      result.totals.add(part.totals);
    }
  }
  leave_scratch();
  taps_.join();
  if (auto* sources = session_.sources()) sources->live().close();
  const auto common = common_result();
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto result = common;
    result.parts = std::move(results[i].parts);
    result.totals.add(results[i].totals);
    if (!explained_.empty()) result.explained = explained_[i].texts();
    results[i] = std::move(result);
  }
  agree(session_.ranks(), [&] {
    if (!common.unfinished) finish_sorted(results.front());
  });
  return results;
}

/// Returns the results that all definitions share. Collective.
RunResult RankRun::common_result() {
  RunResult result;
  const auto* sources = session_.sources();
  result.unfinished = session_.ranks().any(unfinished());
  if (latency_) result.latency = latency_->histogram();
  count(result.totals.counters);
  if (auto* clock = session_.wiring().clock()) result.clocks = clock->qualities();
  ChannelUse use(*setup_.run.detector);
  session_.add_to(use, result.unplaced, result.spans);
  result.channels_seen.assign(use.bits().begin(), use.bits().end());
  if (sources != nullptr) {
    result.totals.counters.add(sources->report().counters());
    result.input_cut = sources->report().cut_off_recorded();
    sources->report().add_counts(result.sources);
    sources->report().add_remarks(result.remarks);
    sources->report().add_ends(result.ends);
  }
  return result;
}

/// Removes the folder; this succeeds for the last writer on the host.
void RankRun::leave_scratch() {
  if (output_.scratch.empty() || writers_.empty()) return;
  std::error_code still_in_use;
  std::filesystem::remove(scratch_folder(output_.scratch, output_.file), still_in_use);
}

void RankRun::finish_sorted(RunResult& result) {
  for (auto& writer : sorted_) {
    result.sorted_files.push_back(writer->finish());
    const auto& damage = writer->damage();
    result.sorted_damage.insert(result.sorted_damage.end(), damage.begin(), damage.end());
  }
}

std::vector<EventSink*> RankRun::sinks_of(std::uint32_t number) {
  std::vector<EventSink*> sinks;
  for (std::size_t i = 0; i < output_.runs.size(); ++i) sinks.push_back(&add_writer(number, i));
  sinks.front() = &tapped(number, *sinks.front());
  for (std::size_t i = 0; i < sinks.size(); ++i) sinks[i] = &replying(number, i, *sinks[i]);
  return sinks;
}

EventJudge* RankRun::judge_of(std::uint32_t writer) {
  const auto& option = setup_.run.filter_command;
  if (option.text.empty()) return nullptr;
  FilterCommandSettings settings{option.words, option.timeout, writer, event_batch_format(setup_)};
  filter_commands_.push_back(std::make_unique<FilterCommand>(
      std::move(settings), [this](const std::string& why) { session_.control().stop_for(Cause::judge, why); }));
  return filter_commands_.back().get();
}

EventSink& RankRun::tapped(std::uint32_t number, EventSink& writer) {
  auto* const tap = taps_.of(number);
  if (tap == nullptr) return writer;
  return *tapped_.emplace_back(std::make_unique<TappedSink>(writer, *tap, resumptions_.front().finished));
}

EventSink& RankRun::replying(std::uint32_t number, std::size_t definition, EventSink& writer) {
  auto* const replies = replies_.of(number);
  if (replies == nullptr) return writer;
  return *replying_.emplace_back(
      std::make_unique<ReplyingSink>(writer, *replies, definition, resumptions_[definition].finished));
}

EventSink& RankRun::add_writer(std::uint32_t number, std::size_t definition) {
  const auto& resumption = resumptions_[definition];
  auto settings = output_.parts;
  settings.run_file = output_.runs[definition].file;
  settings.writer = number;
  settings.run_number = output_.run_number;
  settings.base = setup_.run.geometry.base;
  settings.n_sources = setup_.sources.size();
  settings.with_payload = setup_.with_payload && !output_.no_payload;
  settings.hits = hit_notes(setup_, settings.with_payload);
  if (settings.hits.with_values) settings.values = value_table(setup_);
  settings.numbered = setup_.numbered;
  settings.histograms = setup_.run.histograms;
  settings.sums_histograms = session_.histograms() != nullptr;
  if (!output_.scratch.empty()) settings.scratch = scratch_folder(output_.scratch, output_.file);
  if (!output_.next.empty()) settings.next = scratch_folder(output_.next, output_.file);
  const auto found = resumption.writers.find(number);
  const auto place = found == resumption.writers.end() ? WriterPlace{} : found->second;
  settings.list = place.list;
  settings.first_segment = place.next_segment;
  settings.companions = companions_of(number, output_.runs[definition], place);
  auto writer = std::make_unique<ResumableWriter>(std::move(settings), resumption.finished, [this](const auto& why) {
    session_.control().stop_for(Cause::writer, why);
  });
  writers_.push_back({definition, std::move(writer)});
  return *writers_.back().to;
}

CompanionSettings RankRun::companions_of(std::uint32_t writer, const DefinitionOutput& run,
                                         const WriterPlace& place) const {
  CompanionSettings settings{{}, setup_.event_files, place.events + 1, output_.force};
  for (const auto& [given, target] : run.also) {
    const auto next = place.next_files.find(target.extension());
    settings.outputs.push_back(
        {target_of_writer(target, writer, setup_.roles.writers()), next == place.next_files.end() ? 0 : next->second});
  }
  return settings;
}

std::function<void(const SortedSlice&)> RankRun::sorted_sink_of(BuilderId id) {
  if (output_.save_sorted.empty()) return {};
  sorted_.push_back(std::make_unique<SortedWriter>(output_.save_sorted, id.value, setup_.run.geometry.base,
                                                   "time-sorted hits of " + output_.file));
  return [writer = sorted_.back().get()](const SortedSlice& slice) { writer->write(slice); };
}

void RankRun::count(Counters& counters) const {
  taps_.add_to(counters);
  replies_.add_to(counters);
}

void RankRun::report(const BuildProblem& problem) {
  if (problem.damage.cause == DropCause::out_of_step) {
    if (!reported_out_of_step_.admit()) return;
    log::error("{}: {}; its {} hits are dropped{}", setup_.sources[problem.source.value].name, problem.reason,
               problem.damage.n_hits,
               reported_out_of_step_.at_last("; further messages are suppressed; all are counted"));
    return;
  }
  auto& reported = reported_.try_emplace(problem.source.value, kReportedOfSource).first->second;
  if (!reported.admit()) return;
  if (reported.count() == kReportedOfSource)
    log::error("{}: further messages are suppressed; all are counted", setup_.streams[problem.source.value].name);
  log::error("{}: offset {}: {}; an epoch buffer of {} hits from epoch {} on is dropped",
             setup_.streams[problem.source.value].name, problem.damage.file_offset, problem.reason,
             problem.damage.n_hits, problem.damage.first_epoch.value);
}

}  // namespace eventloom
