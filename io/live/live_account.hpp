#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/dataflow/source_counts.hpp"
#include "formats/event.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// The account of a live stream: every hit received was taken, is lost with a cause, or lies outside the run.
class LiveAccount {
 public:
  /// Hits of the run: taken, or lost.
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// All hits that the feed has delivered.
  [[nodiscard]] std::uint64_t hits_received() const {
    return hits_ - hits_missed_ + counters_[Metric::hits_before_the_run];
  }
  [[nodiscard]] bool any_congested() const { return dead_epochs_ != 0; }
  [[nodiscard]] std::uint64_t late_passed() const { return late_passed_; }
  /// Other counts.
  [[nodiscard]] std::uint64_t& operator[](Metric metric) { return counters_[metric]; }
  [[nodiscard]] std::uint64_t operator[](Metric metric) const { return counters_[metric]; }

  void take(std::uint64_t hits) { hits_ += hits; }
  /// Hits lost in the run; epochs lost by congestion are dead time.
  void lose(const Damage& damage);
  /// Hits of a loss, by its cause: those that a slice accounts for.
  void drop(const Damage& damage) { dropped_[static_cast<std::size_t>(damage.cause)] += damage.n_hits; }
  /// A buffer came late for an epoch that had been passed.
  void note_late_passed() { ++late_passed_; }
  /// These of the lost hits were lost while the run was interrupted.
  void note_missed(std::uint64_t hits) { hits_missed_ += hits; }
  /// These losses, and hits in data taken, belong to the run that follows.
  void leave(std::uint64_t hits, const std::vector<Damage>& losses);
  /// Hits taken or lost so far do not count.
  void restart();

  /// Adds the counts to those of the feed, replacing its drops: they have also arrived as damage. `beyond`: hits taken
  /// or lost after the end of the run.
  void add_to(Counters& counters, const StreamHeader& header, std::uint64_t beyond) const;

 private:
  std::uint64_t hits_ = 0;
  std::uint64_t hits_missed_ = 0;  ///< part of hits_ that was lost while the run was interrupted
  Epoch dead_epochs_ = 0;          ///< number of epochs dropped by congestion
  std::uint64_t late_passed_ = 0;
  std::array<std::uint64_t, kDropCauses> dropped_{};
  Counters counters_{Metric::epochs_given_up, Metric::hits_before_the_run};
};

}  // namespace eventloom
