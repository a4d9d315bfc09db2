#include "app/tools/bench/clock_trial.hpp"

namespace eventloom {

namespace {

double error_of(const ClockModel& model, const ClockReading& reading) {
  return static_cast<double>(to_master(model, reading.local) - reading.master);
}

}  // namespace

ClockTrial run_clock_trial(ClockPair& pair, const ClockTrialSettings& settings) {
  ClockTrial trial;
  pair.synchronise();
  pair.work(settings.sync_ns);
  trial.model = pair.sync().model();
  trial.quality = pair.sync().quality();
  const auto first = pair.read();
  const ClockModel offset_only{first.local, 1, to_master(trial.model, first.local)};
  const auto errors_at = [&](std::int64_t after, const ClockReading& reading) {
    const double degraded = trial.quality.rate_error_ppm * 1e-6 * static_cast<double>(after);
    return ClockErrors{after,
                       reading,
                       error_of(offset_only, reading),
                       error_of(trial.model, reading),
                       error_of(pair.sync().model(), reading),
                       trial.quality.precision_ns + degraded};
  };
  trial.at_sync = errors_at(0, first);
  std::int64_t passed = 0;
  for (const auto duration : settings.durations) {
    pair.work(duration - passed);
    passed = duration;
    trial.later.push_back(errors_at(duration, pair.read()));
  }
  return trial;
}

}  // namespace eventloom
