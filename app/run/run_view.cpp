#include "app/run/run_view.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/observe/utc_text.hpp"
#include "app/run/hit_notes_of_run.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_watch.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

std::vector<BuilderRecord> builder_records(const RunPicture& picture, double seconds) {
  std::vector<BuilderRecord> records;
  const auto all_ns = static_cast<std::uint64_t>(seconds * 1e9);
  for (std::size_t r = 0; r < picture.ranks().size(); ++r) {
    for (const auto& [number, row] : picture.ranks()[r].builders) {
      const auto busy_ns = std::min(row.busy_ns, all_ns);
      records.push_back({number, static_cast<std::uint32_t>(r), busy_ns, all_ns - busy_ns});
    }
  }
  std::ranges::sort(records, {}, &BuilderRecord::builder);
  return records;
}

std::vector<RateRecord> rate_records(const RunSeries& series) {
  constexpr auto kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<RateRecord> records;
  for (const auto& [elapsed_s, figures] : series.moments) {
    records.push_back({elapsed_s, figures.hits_per_s, figures.bytes_per_s, figures.events_per_s,
                       figures.latency_p50_ns.value_or(kUnknown), figures.latency_p99_ns.value_or(kUnknown)});
  }
  return records;
}

}  // namespace

std::unique_ptr<Monitor> open_monitor(const ViewSettings& settings, const RunDescription& run, RunDesk* desk,
                                      const Collective& ranks) {
  std::unique_ptr<Monitor> monitor;
  agree(ranks, [&] {
    if (ranks.rank() == 0 && settings.monitor) monitor = std::make_unique<Monitor>(*settings.monitor, run, desk);
  });
  return monitor;
}

RunView::RunView(const ViewSettings& settings, RunDescription run, Monitor* monitor, RunDesk* desk,
                 const Collective& ranks)
    : description_(std::move(run)),
      disk_(std::filesystem::path(description_.name).parent_path()),
      monitor_(monitor),
      desk_(desk) {
  const bool first = ranks.rank() == 0;
  agree(ranks, [&] {
    if (first && !settings.alarms.empty()) {
      alarms_ = std::make_unique<Alarms>(settings.alarms, settings.alarm_command, description_.name);
    }
  });
  if (monitor_ != nullptr) monitor_->publish(std::make_shared<RunSnapshot>());
  if (first && settings.progress != ProgressStyle::none) progress_.emplace(settings.progress);
}

void RunView::announce(const RunSetup& setup) {
  description_.all_live = setup.all_live;
  description_.roles = setup.roles;
  for (const auto& source : setup.streams) description_.sources.push_back(source.name);
  for (int r = 0; r < setup.roles.ranks; ++r) {
    description_.ranks.push_back({setup.hosts[static_cast<std::size_t>(r)], plays(setup.roles, r)});
  }
  if (monitor_ != nullptr) monitor_->describe(description_);
}

void RunView::begin(const RunSetup& setup, const RunRecord& record, const RunTracker& tracker, Session& session,
                    std::vector<KindHistograms> histograms) {
  if (!progress_ && monitor_ == nullptr && !alarms_) return;
  session_ = &session;
  tracker_ = tracker;
  description_.began = record.began;
  description_.tick_ps = record.base.tick_ps;
  description_.epoch_ticks = record.base.epoch_ticks;
  description_.epochs_per_slice = record.epochs_per_slice;
  description_.configuration = record.setup;
  description_.sources.clear();
  for (const auto& source : setup.sources) description_.sources.push_back(source.name);
  description_.known = KnownChannels(record.detector);
  description_.payload_kinds = first_payload_kinds(setup);
  const auto is_real = [](PayloadKind kind) { return kind != PayloadKind::u32; };
  if (record.hits.with_values || std::ranges::any_of(description_.payload_kinds, is_real)) {
    description_.values = value_table(setup);
  }
  if (!description_.known.empty()) {
    description_.detector = std::make_shared<const Json>(detector_facts(description_.known));
  }
  if (alarms_) alarms_->set_sources(description_.sources);
  if (monitor_ != nullptr && session.histograms() != nullptr) open_histograms(setup, std::move(histograms));
  if (monitor_ != nullptr) monitor_->describe(description_);
}

void RunView::open_histograms(const RunSetup& setup, std::vector<KindHistograms> kinds) {
  histograms_.emplace(setup, std::move(kinds));
  auto blanks = histograms_->blanks();
  for (const auto& blank : blanks) description_.histograms.push_back(blank.name);
  monitor_->histograms().open(std::move(blanks));
}

void RunView::wait(std::size_t live, std::size_t known) {
  if (monitor_ == nullptr) return;
  if (live != 0 && known != known_) report_wait(live, known);
  const auto before = early_.size();
  take_end(early_);
  waits_no_longer_ = waits_no_longer_ || early_.size() != before;
  for (const auto& request : monitor_->take_commands()) {
    if (request.command == Command::stop) {
      std::raise(SIGUSR1);
    } else if (request.command == Command::end) {
      std::raise(SIGTERM);
    } else {
      early_.push_back(request);
    }
  }
}

/// Adds the request to end this one of several runs, if there is one.
void RunView::take_end(std::vector<Request>& requests) {
  const auto asked = desk_ == nullptr ? std::nullopt : desk_->take_end();
  if (!asked) return;
  const bool continues = asked->what == RunRequest::What::next_run;
  requests.push_back({.command = Command::end, .cause = continues ? Cause::next_run : Cause::stop_run});
}

void RunView::report_wait(std::size_t live, std::size_t known) {
  known_ = known;
  auto snapshot = std::make_shared<RunSnapshot>();
  snapshot->condition.message = fmt::format("waiting for the first data of {} of {} live sources", live - known, live);
  if (alarms_) snapshot->alarms = alarms_->states();
  monitor_->publish(std::move(snapshot));
}

void RunView::turn(SteadyTime now) {
  if (!tracker_) return;
  if (monitor_ != nullptr) {
    take_end(early_);
    for (const auto& request : std::exchange(early_, {})) session_->control().ask(request);
    for (const auto& request : monitor_->take_commands()) session_->control().ask(request);
    if (histograms_) histograms_->turn(now, *session_->histograms(), monitor_->histograms());
  }
  // Failures are reported at once: little time is left.
  const auto& failure = session_->control().failure();
  const bool fails = !failure.empty();
  if (fails == failing_ && !tracker_->due(now)) return;
  failing_ = fails;
  const auto snapshot = tracker_->take(
      now, *session_->picture(), {state(), failure, session_->control().silence(now), session_->control().speed()});
  if (const auto* clock = session_->wiring().clock()) snapshot->clocks = clock->qualities();
  snapshot->disk = disk_.look(now);
  if (alarms_) alarms_->look(*snapshot);
  if (progress_) progress_->show(*snapshot);
  if (monitor_ != nullptr) monitor_->publish(snapshot);
}

std::string RunView::state() const {
  const auto& control = session_->control();
  if (!control.failure().empty()) return "failed";
  if (control.stopping()) return "stopping";
  return control.paused() ? "paused" : "running";
}

void RunView::add_to(RunResult& result) {
  if (monitor_ != nullptr) result.commands = monitor_->close_commands();
  if (!tracker_) return;
  result.statistics.builders = builder_records(*session_->picture(), result.seconds);
  result.statistics.rates = rate_records(tracker_->series());
  if (!alarms_) return;
  if (!last_look_) look_at_end(result);
  result.statistics.alarms = alarms_->records();
}

/// Call before the output is written, which includes the alarms.
void RunView::look_at_end(const RunResult& result) {
  last_look_ = true;
  alarms_->look(*tracker_->conclude(*session_->picture(), result.totals.counters, exit_code_of(result), ""));
}

void RunView::conclude(const RunResult& result, int exit_code, const std::string& stopped_by) {
  if (monitor_ == nullptr && !alarms_) return;
  const auto message = stopped_by.empty() ? "" : "stopped by " + stopped_by;
  const auto snapshot = tracker_->conclude(*session_->picture(), result.totals.counters, exit_code, message);
  snapshot->clocks = result.clocks;
  if (alarms_) snapshot->alarms = alarms_->states();
  if (histograms_) histograms_->conclude(*session_->histograms(), monitor_->histograms());
  if (desk_ != nullptr) {
    monitor_->publish(snapshot);  // viewers need not hurry: the monitor persists
  } else if (monitor_ != nullptr) {
    monitor_->conclude(snapshot);
  }
  if (alarms_) alarms_->finish();
}

void RunView::fail(const Failure& failure) {
  progress_.reset();
  if (monitor_ != nullptr && tracker_) monitor_->conclude(tracker_->fail(failure.code, failure.text));
}

}  // namespace eventloom
