#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/defect_log.hpp"

namespace eventloom {

/// Rows of a block that are no hits: one of their columns has no value; or, with the key `skip-bad`, a number that is
/// no channel, no time, or no number of a payload column's kind.
class LostRows {
 public:
  explicit LostRows(bool skips_bad) : skips_bad_(skips_bad) {}

  /// Begins a block of the rows [row, row + n).
  void begin(std::uint64_t row, std::size_t n) {
    row_ = row;
    any_ = false;
    gone_.assign(n, false);
    left_out_.assign(n, false);
    reasons_.clear();
  }

  [[nodiscard]] bool any() const { return any_; }
  /// Whether row i of the block makes no hit.
  [[nodiscard]] bool operator[](std::size_t i) const { return gone_[i]; }
  [[nodiscard]] const std::vector<bool>& gone() const { return gone_; }
  [[nodiscard]] const std::vector<bool>& left_out() const { return left_out_; }

  /// A condition does not hold for row i, which is no loss then.
  void leave_out(std::size_t i);
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

  bool skips_bad_;
  bool any_ = false;
  std::uint64_t row_ = 0;
  std::vector<bool> gone_;
  std::vector<bool> left_out_;  ///< rows that are gone because the URI leaves them out
  std::vector<Reason> reasons_;
};

}  // namespace eventloom
