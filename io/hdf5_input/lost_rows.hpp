#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/event.hpp"
#include "io/files/defect_log.hpp"

namespace eventloom {

/// Rows of a block that make no hits, and why: a condition leaves them out; one of their columns has no value, or, with
/// the key `skip-bad`, a number that is no channel, no time, or no number of a payload column's kind; or their time
/// lies before tick 0.
class LostRows {
 public:
  explicit LostRows(bool skips_bad) : skips_bad_(skips_bad) {}

  /// Begins a block of the rows [row, row + n).
  void begin(std::uint64_t row, std::size_t n) {
    row_ = row;
    any_ = false;
    causes_.assign(n, std::nullopt);
    turns_.clear();
    reasons_.clear();
  }

  [[nodiscard]] bool any() const { return any_; }
  /// Whether row i of the block makes no hit.
  [[nodiscard]] bool operator[](std::size_t i) const { return any_ && causes_[i].has_value(); }
  /// The cause of each row that makes no hit.
  [[nodiscard]] const std::vector<std::optional<DropCause>>& causes() const { return causes_; }

  /// Row i marks turns of the counter of the times, and is nothing else.
  void mark_turn(std::size_t i) {
    turns_.resize(causes_.size());
    turns_[i] = drop(i, DropCause::cut);
  }
  [[nodiscard]] bool marks_turn(std::size_t i) const { return !turns_.empty() && turns_[i]; }
  /// Flags of these rows; empty when there are none.
  [[nodiscard]] const std::vector<bool>& turns() const { return turns_; }
  /// A condition does not hold for row i, which is no loss then.
  void leave_out(std::size_t i) { drop(i, DropCause::cut); }
  /// Row i has no time in the run.
  void mark_untimed(std::size_t i) { drop(i, DropCause::untimed); }
  /// `dataset` has no value in row i of the block.
  void mark(std::size_t i, const std::string& dataset);
  /// Likewise in the rows for which `missing` is true; it may be empty.
  void mark(const std::vector<bool>& missing, const std::string& dataset);
  /// The row i holds something else. Throws UserError unless the URI has skip-bad=yes. `text` names dataset and row.
  void mark_bad(std::size_t i, const std::string& text);
  /// Reports the lost rows.
  void report(DefectLog& log) const;

 private:
  struct Reason {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::string dataset;  ///< the dataset that has no value
    std::string defect;   ///< why a row is bad
  };

  /// Returns false when another cause has been found before.
  bool drop(std::size_t i, DropCause cause);

  bool skips_bad_;
  bool any_ = false;
  std::uint64_t row_ = 0;
  std::vector<std::optional<DropCause>> causes_;
  std::vector<bool> turns_;
  std::vector<Reason> reasons_;
};

}  // namespace eventloom
