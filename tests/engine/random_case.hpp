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
  std::vector<RefHit> hits_of(std::uint16_t source, Tick end, bool holes);

  std::uint64_t seed_;
  std::mt19937_64 random_;
};

}  // namespace eventloom::test
