#include "core/fabric/timetable.hpp"

#include <algorithm>

namespace eventloom {

Timetable::Timetable(const Workload& work, std::uint32_t steps, std::uint64_t seed)
    : work_(work),
      steps_(steps),
      random_(seed),
      n_taken_(work.capacity.size() * steps),
      begins_(work.jobs.size(), kNone),
      barred_(work.jobs.size()) {
  std::size_t n_lanes = 0;
  for (const auto capacity : work.capacity) {
    first_lane_.push_back(n_lanes);
    n_lanes += std::size_t{capacity} * steps;
  }
  taken_.assign(n_lanes, kNone);
  for (std::uint32_t job = 0; job < work.jobs.size(); ++job) place_first(job);
}

/// Places the job in its step of the shift if that is free, otherwise in the first free one.
void Timetable::place_first(std::uint32_t job) {
  const auto& of = work_.jobs[job];
  if (of.steps > steps_) return waiting_.push_back(job);
  const auto last = steps_ - of.steps;
  const auto in_shift = ((of.builder + work_.ends - of.source) % work_.ends - 1) * work_.steps_per_transfer;
  if (in_shift <= last && displaced(job, in_shift) == 0) return place(job, in_shift, 0);
  for (std::uint32_t begin = 0; begin <= last; ++begin) {
    if (displaced(job, begin) == 0) return place(job, begin, 0);
  }
  waiting_.push_back(job);
}

/// Upper bound of the number of jobs that would have to move.
std::uint32_t Timetable::displaced(std::uint32_t job, std::uint32_t begin) const {
  std::uint32_t n = 0;
  const auto& of = work_.jobs[job];
  for (const auto resource : of.uses) {
    for (auto step = begin; step < begin + of.steps; ++step) n += has_room(resource, step) ? 0 : 1;
  }
  return n;
}

/// Chooses at random among equals. Returns std::nullopt while the only choice is barred.
std::optional<std::uint32_t> Timetable::best_begin(std::uint32_t job, std::uint64_t move) {
  std::optional<std::uint32_t> best;
  std::uint32_t least = kNone;
  std::uint32_t equals = 0;
  for (std::uint32_t begin = 0; begin + work_.jobs[job].steps <= steps_; ++begin) {
    if (barred_[job].begin == begin && barred_[job].until > move) continue;
    const auto n = displaced(job, begin);
    if (n > least) continue;
    equals = n < least ? 1 : equals + 1;
    least = n;
    if (random_() % equals == 0) best = begin;
  }
  return best;
}

void Timetable::place(std::uint32_t job, std::uint32_t begin, std::uint64_t move) {
  const auto& of = work_.jobs[job];
  for (const auto resource : of.uses) {
    for (auto step = begin; step < begin + of.steps; ++step) {
      auto* lane = lanes(resource, step);
      if (!has_room(resource, step)) remove(lane[random_() % work_.capacity[resource]], move);
      while (*lane != kNone) ++lane;
      *lane = job;
      ++n_taken_[std::size_t{resource} * steps_ + step];
    }
  }
  begins_[job] = begin;
}

void Timetable::remove(std::uint32_t job, std::uint64_t move) {
  constexpr std::uint64_t kLeastMoves = 10;
  const auto& of = work_.jobs[job];
  const auto begin = begins_[job];
  for (const auto resource : of.uses) {
    for (auto step = begin; step < begin + of.steps; ++step) {
      *std::find(lanes(resource, step), lanes(resource, step) + work_.capacity[resource], job) = kNone;
      --n_taken_[std::size_t{resource} * steps_ + step];
    }
  }
  begins_[job] = kNone;
  barred_[job] = {begin, move + kLeastMoves + random_() % kLeastMoves + waiting_.size() / 2};
  waiting_.push_back(job);
}

bool Timetable::settle(std::uint64_t moves) {
  for (std::uint64_t move = 1; move <= moves && !waiting_.empty(); ++move) {
    std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
    const auto job = waiting_.back();
    const auto begin = best_begin(job, move);
    if (!begin) continue;
    waiting_.pop_back();
    place(job, *begin, move);
  }
  return waiting_.empty();
}

}  // namespace eventloom
