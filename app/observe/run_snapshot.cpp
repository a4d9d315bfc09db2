#include "app/observe/run_snapshot.hpp"

#include <algorithm>
#include <utility>

#include "core/monitor/telemetry_settings.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr auto kBetweenSnapshots = std::chrono::seconds(1);
/// Rates are means over this many reports of a rank.
constexpr std::size_t kPast = 3;

/// Returns the number of snapshots to keep.
std::size_t past_of(const RunPicture& picture) {
  return kPast *
         static_cast<std::size_t>(telemetry_interval(kBetweenSnapshots, picture.ranks().size()) / kBetweenSnapshots);
}

double seconds_between(RunTracker::Time from, RunTracker::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Returns the sum of the rates of all ranks. The counts of a rank that has reported only once are averaged over the
/// time since the run began.
double rate(const RunSnapshot& snapshot, Metric metric, RunTracker::Time begun) {
  constexpr double kShortest_s = 0.5;
  double sum = 0;
  for (std::size_t r = 0; r < snapshot.now.ranks().size(); ++r) {
    const auto now = snapshot.now.ranks()[r].counters[metric];
    if (const double seconds = snapshot.seconds_reported(r); seconds > 0) {
      const auto before = snapshot.before.ranks()[r].counters[metric];
      sum += static_cast<double>(now - std::min(now, before)) / seconds;
      continue;
    }
    const auto reported = snapshot.now.heard(static_cast<int>(r));
    const bool before =
        r < snapshot.before.ranks().size() && snapshot.before.heard(static_cast<int>(r)) != RunTracker::Time{};
    const double seconds = before || reported == RunTracker::Time{} ? 0 : seconds_between(begun, reported);
    if (seconds > kShortest_s) sum += static_cast<double>(now) / seconds;
  }
  return sum;
}

LogHistogram difference(LogHistogram now, const LogHistogram& before) {
  for (std::size_t i = 0; i < LogHistogram::kBins; ++i) now[i] -= std::min(now[i], before[i]);
  return now;
}

std::vector<double> by_rank(const Heartbeat::Silence& silence, std::size_t ranks) {
  std::vector<double> silent(ranks, 0);
  for (const int rank : silence.ranks) {
    silent[static_cast<std::size_t>(rank)] = std::chrono::duration<double>(silence.lasts).count();
  }
  return silent;
}

/// Grows while hits are read, messages sent or slices built.
std::uint64_t work_done(const Counters& totals) {
  return totals[Metric::hits_read] + totals[Metric::message_bytes] + totals[Metric::slices];
}

}  // namespace

std::optional<double> percentile(const LogHistogram& histogram, double p) {
  const auto count = histogram.count();
  if (count == 0) return std::nullopt;
  std::uint64_t seen = 0;
  std::size_t bin = 0;
  while (bin + 1 < LogHistogram::kBins &&
         static_cast<double>(seen += histogram[bin]) < p * static_cast<double>(count)) {
    ++bin;
  }
  return static_cast<double>(LogHistogram::begin_of(bin)) + static_cast<double>(LogHistogram::width_of(bin));
}

double RunSnapshot::seconds_reported(std::size_t rank) const {
  if (rank >= before.ranks().size()) return 0;
  const auto from = before.heard(static_cast<int>(rank));
  return from == RunPicture::Time{} ? 0 : seconds_between(from, now.heard(static_cast<int>(rank)));
}

void RunSeries::add(const Moment& moment) {
  if (seen++ % stride != 0) return;
  moments.push_back(moment);
  if (moments.size() <= kMost) return;
  for (std::size_t i = 0; 2 * i < moments.size(); ++i) moments[i] = moments[2 * i];
  moments.resize((moments.size() + 1) / 2);
  stride *= 2;
}

std::shared_ptr<RunSnapshot> RunTracker::take(Time now, const RunPicture& picture, RunCondition condition) {
  next_ = now + kBetweenSnapshots;
  if (!begun_) begun_ = now;
  auto snapshot = std::make_shared<RunSnapshot>();
  snapshot->taken = now;
  snapshot->elapsed_s = seconds_between(*begun_, now);
  snapshot->now = picture;
  snapshot->totals = picture.totals();
  snapshot->silent_s = by_rank(condition.silence, picture.ranks().size());
  snapshot->condition = std::move(condition);
  if (last_) {
    snapshot->before = past_.front();
    snapshot->series = last_->series;
  }
  add_stall(now, *snapshot);
  add_figures(*snapshot);
  add_remaining(*snapshot);
  if (last_) snapshot->series.add({snapshot->elapsed_s, snapshot->figures});
  snapshot->totals.add(resumed_);
  past_.push_back(picture);
  if (past_.size() > past_of(picture)) past_.pop_front();
  last_ = snapshot;
  return snapshot;
}

std::shared_ptr<RunSnapshot> RunTracker::conclude(const RunPicture& picture, const Counters& totals, int exit_code,
                                                  std::string message) {
  auto snapshot = last_with({"ended", std::move(message)}, exit_code);
  snapshot->now = picture;
  snapshot->before = picture;
  snapshot->silent_s.assign(picture.ranks().size(), 0);
  snapshot->totals = totals;
  // A stopped run sends no more, although not all data have been sent.
  const auto share = exit_code == kExitStopped ? snapshot->figures.share : picture.share_sent();
  snapshot->figures = {};
  snapshot->figures.share = share;
  return snapshot;
}

std::shared_ptr<RunSnapshot> RunTracker::fail(int exit_code, std::string message) const {
  return last_with({"failed", std::move(message)}, exit_code);
}

std::shared_ptr<RunSnapshot> RunTracker::last_with(RunCondition condition, int exit_code) const {
  auto snapshot = std::make_shared<RunSnapshot>();
  if (last_) *snapshot = *last_;
  condition.speed = snapshot->condition.speed;
  snapshot->condition = std::move(condition);
  snapshot->exit_code = exit_code;
  return snapshot;
}

void RunTracker::add_stall(Time now, RunSnapshot& snapshot) {
  if (snapshot.condition.state != "running") paused_ = now;
  snapshot.paused = paused_;
  const bool progress = !last_ || work_done(snapshot.now.totals()) != work_done(last_->now.totals());
  const bool paused = snapshot.condition.state == "paused";
  if (progress || paused) progress_ = now;
  // A mean over some seconds would still show a flow that has ended.
  if (paused && !progress) snapshot.before = snapshot.now;
  snapshot.stalled_s = seconds_between(progress_, now);
  for (const double seconds : snapshot.silent_s) snapshot.stalled_s = std::max(snapshot.stalled_s, seconds);
}

void RunTracker::add_figures(RunSnapshot& snapshot) const {
  auto& figures = snapshot.figures;
  figures.hits_per_s = rate(snapshot, Metric::hits_in, *begun_);
  figures.bytes_per_s = rate(snapshot, Metric::message_bytes, *begun_);
  figures.events_per_s = rate(snapshot, Metric::events, *begun_);
  figures.slices_per_s = rate(snapshot, Metric::slices, *begun_);
  figures.ring_fill = snapshot.now.ring_fill();
  const auto latest =
      difference(snapshot.now.histogram(HistogramKind::latency), snapshot.before.histogram(HistogramKind::latency));
  figures.latency_p50_ns = percentile(latest, 0.5);
  figures.latency_p99_ns = percentile(latest, 0.99);
}

/// Estimates from the data, or from the time if the run ends earlier by time.
void RunTracker::add_remaining(RunSnapshot& snapshot) {
  auto& figures = snapshot.figures;
  figures.share = snapshot.now.share_sent();
  const double share = figures.share.value_or(0);
  if (last_ && last_->condition.speed != snapshot.condition.speed) {
    paced_since_s_ = snapshot.elapsed_s;
    paced_from_ = share;
  }
  if (last_ && snapshot.condition.state == "paused") paced_since_s_ += snapshot.elapsed_s - last_->elapsed_s;
  if (share > paced_from_) {
    figures.remaining_s = (snapshot.elapsed_s - paced_since_s_) * (1 - share) / (share - paced_from_);
  }
  if (duration_.count() <= 0) return;
  const double duration_s = std::chrono::duration<double>(duration_).count();
  const double left_s = std::max(0.0, duration_s - snapshot.elapsed_s);
  figures.remaining_s = std::min(figures.remaining_s.value_or(left_s), left_s);
  figures.share = std::max(share, 1 - left_s / duration_s);
}

}  // namespace eventloom
