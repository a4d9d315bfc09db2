#pragma once

#include <cstdint>
#include <random>

#include "run_case.hpp"

namespace eventloom::test {

/// Makes random cases, one per seed.
class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t seed) : seed_(seed), random_(seed) {}

  /// Random sources, builders, filters, ranks, geometry, definition and hits; the rest as in RunCase.
  RunCase any();
  /// Likewise, but with this number of slices, all with data, and without filters.
  RunCase steady(std::uint64_t slices);
  /// Varies what any() leaves: where the run begins, epochs, channels, payload, equal times, the order of hits,
  /// filters, and definitions that any() does not choose.
  void vary(RunCase& of);
  /// Chooses what may not change the result, for the sources of the case: ranks, roles, rings, schedule and threads.
  void choose_setup(RunCase& of);
  /// Gives all hits random payload, a random number of words by source.
  void give_payload(RunCase& of);
  /// Makes the sources live, with `pace_ns` to `pace_ns` + `spread_ns` from one epoch to the next; with a random
  /// schedule, with or without filters.
  void make_live(RunCase& of, std::int64_t pace_ns, std::int64_t spread_ns);
  /// Chooses a random schedule.
  void choose_schedule(RunCase& of);
  /// Chooses a table that suits its roles as the schedule.
  void give_table(RunCase& of);

  std::uint64_t draw(std::uint64_t least, std::uint64_t most);

 private:
  void choose_roles(RunCase& of);
  void choose_definition(RunCase& of);
  void choose_filters(RunCase& of);
  void vary_times(RunCase& of);
  std::vector<RefHit> hits_of(std::uint16_t source, Tick end, bool holes);

  std::uint64_t seed_;
  std::mt19937_64 random_;
};

}  // namespace eventloom::test
