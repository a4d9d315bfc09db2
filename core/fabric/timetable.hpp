#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "core/fabric/workload.hpp"

namespace eventloom {

/// Places the jobs of a workload in a number of steps. The workload must outlive it.
class Timetable {
 public:
  Timetable(const Workload& work, std::uint32_t steps, std::uint64_t seed);

  /// Places jobs, each where it displaces the fewest others, until all have a place or `moves` moves were made. Returns
  /// whether all have a place.
  bool settle(std::uint64_t moves);
  /// First steps of the jobs, indexed by job; valid once all have a place.
  [[nodiscard]] const std::vector<std::uint32_t>& begins() const { return begins_; }

 private:
  static constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();

  void place_first(std::uint32_t job);
  [[nodiscard]] std::uint32_t displaced(std::uint32_t job, std::uint32_t begin) const;
  [[nodiscard]] std::optional<std::uint32_t> best_begin(std::uint32_t job, std::uint64_t move);
  void place(std::uint32_t job, std::uint32_t begin, std::uint64_t move);
  void remove(std::uint32_t job, std::uint64_t move);
  [[nodiscard]] std::uint32_t* lanes(std::uint32_t resource, std::uint32_t step) {
    return taken_.data() + first_lane_[resource] + std::size_t{step} * work_.capacity[resource];
  }
  [[nodiscard]] bool has_room(std::uint32_t resource, std::uint32_t step) const {
    return n_taken_[std::size_t{resource} * steps_ + step] < work_.capacity[resource];
  }

  const Workload& work_;
  std::uint32_t steps_;
  std::mt19937_64 random_;
  std::vector<std::size_t> first_lane_;  ///< indexed by resource: index of its first lane in step 0
  std::vector<std::uint32_t> taken_;     ///< indexed by lane: the job, or kNone
  std::vector<std::uint32_t> n_taken_;   ///< [resource][step]: occupied lanes
  std::vector<std::uint32_t> begins_;    ///< indexed by job; kNone while it has no place
  std::vector<std::uint32_t> waiting_;   ///< jobs without a place
  struct Barred {
    std::uint32_t begin = kNone;
    std::uint64_t until = 0;
  };
  std::vector<Barred> barred_;  ///< indexed by job: the place to which it may not yet return
};

}  // namespace eventloom
