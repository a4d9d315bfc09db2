#pragma once

#include <cstddef>
#include <vector>

#include "app/tools/bench/bench_report.hpp"
#include "app/tools/bench/clock_trial.hpp"
#include "core/runtime/json.hpp"

/// The report of `bench clocks`; its fields are listed in README.md.
namespace eventloom {

std::vector<BenchColumn> clocks_columns();

/// One repetition on one rank, without its round trips.
Json trial_json(const ClockTrial& trial);

/// Adds the lengths of the round trips made during the synchronisation, and with `all` the round trips themselves.
void add_trips(Json& trial, const std::vector<RoundTrip>& trips, bool all);

/// The point of one duration. `trials`: the repetitions of one rank, with round trips; `duration`: index of the
/// duration; `known`: prior knowledge of the clocks, with which the point begins.
Json clocks_point(const Json& trials, std::size_t duration, Json known);

}  // namespace eventloom
