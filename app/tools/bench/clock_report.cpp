#include "app/tools/bench/clock_report.hpp"

#include <algorithm>
#include <cmath>

#include "app/tools/bench/bench_run.hpp"

namespace eventloom {

namespace {

constexpr double kPpm = 1e6;

Json reading_json(const ClockReading& reading) {
  return {{"local_ns", reading.local}, {"master_ns", reading.master}, {"error_ns", reading.error_ns}};
}

Json errors_json(const ClockErrors& errors) {
  return {{"after_ns", errors.after_ns},
          {"reading", reading_json(errors.reading)},
          {"uncorrected_ns", errors.uncorrected},
          {"corrected_ns", errors.corrected},
          {"kept_ns", errors.kept},
          {"bound_ns", errors.bound}};
}

/// Local clock against the master's, as in the options.
double drift_found_ppm(const ClockModel& model) { return (1 / model.coef - 1) * kPpm; }

}  // namespace

Json trial_json(const ClockTrial& trial) {
  Json json{{"drift_found_ppm", drift_found_ppm(trial.model)},
            {"drift_error_ppm", trial.quality.rate_error_ppm},
            {"precision_ns", trial.quality.precision_ns},
            {"round_trips", trial.quality.round_trips},
            {"at_sync", errors_json(trial.at_sync)}};
  for (const auto& errors : trial.later) json["later"].push_back(errors_json(errors));
  return json;
}

void add_trips(Json& trial, const std::vector<RoundTrip>& trips, bool all) {
  std::vector<double> lengths;
  for (const auto& trip : trips) {
    lengths.push_back(static_cast<double>(trip.received - trip.sent));
    if (all) trial["trips"].push_back({trip.sent, trip.remote, trip.received});
  }
  if (lengths.empty()) return;
  std::ranges::sort(lengths);
  const auto at = [&](double share) {
    return lengths[static_cast<std::size_t>(share * static_cast<double>(lengths.size() - 1))];
  };
  trial["round_trip_ns"] = {{"least", lengths.front()}, {"p50", at(0.5)}, {"p99", at(0.99)}, {"most", lengths.back()}};
}

namespace {

/// The median of the absolute values of a member in all trials.
double typical(const Json& trials, const std::string& member) {
  std::vector<double> values;
  for (const auto& trial : trials) values.push_back(std::abs(trial.at_path(member)->get<double>()));
  return median(std::move(values));
}

}  // namespace

Json clocks_point(const Json& trials, std::size_t duration, Json known) {
  const auto errors = "/later/" + std::to_string(duration);
  auto point = std::move(known);
  point["after_s"] = typical(trials, errors + "/after_ns") * 1e-9;
  std::vector<double> drifts;
  for (const auto& trial : trials) drifts.push_back(trial.at("drift_found_ppm"));
  point["drift_found_ppm"] = median(drifts);
  point["drift_error_ppm"] = typical(trials, "/drift_error_ppm");
  point["round_trips"] = typical(trials, "/round_trips");
  for (const char* each : {"least", "p50", "p99", "most"}) {
    point["round_trip_ns"][each] = typical(trials, "/round_trip_ns/" + std::string(each));
  }
  point["at_sync_ns"] = typical(trials, "/at_sync/corrected_ns");
  point["precision_ns"] = typical(trials, "/precision_ns");
  for (const char* each : {"uncorrected_ns", "corrected_ns", "kept_ns", "bound_ns"}) {
    point[each] = typical(trials, errors + "/" + each);
  }
  point["repetitions"] = Json::array();
  for (const auto& trial : trials) {
    auto one = trial;
    one["after"] = *trial.at_path(errors);
    one.erase("later");
    point["repetitions"].push_back(std::move(one));
  }
  return point;
}

std::vector<BenchColumn> clocks_columns() {
  return {{"clocks", "clocks", "", 0},
          {"rank", "rank", "", 0},
          {"drift_ppm", "drift", "ppm", 3},
          {"drift_found_ppm", "found", "ppm", 3},
          {"round_trips", "trips", "", 0},
          {"/round_trip_ns/least", "trip least", "ns", 0},
          {"/round_trip_ns/p50", "p50", "ns", 0},
          {"at_sync_ns", "error at once", "ns", 0},
          {"after_s", "after", "s", 3},
          {"uncorrected_ns", "uncorrected", "ns", 0},
          {"corrected_ns", "corrected", "ns", 0},
          {"kept_ns", "kept in step", "ns", 0},
          {"bound_ns", "bound", "ns", 0}};
}

}  // namespace eventloom
