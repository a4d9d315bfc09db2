#include "io/hdf5_input/lost_rows.hpp"

#include "core/runtime/format.hpp"

namespace eventloom {

bool LostRows::drop(std::size_t i, DropCause cause) {
  if (causes_[i]) return false;
  causes_[i] = cause;
  return any_ = true;
}

void LostRows::mark(std::size_t i, const std::string& dataset) {
  if (!drop(i, DropCause::corrupt)) return;
  const auto row = row_ + i;
  const bool joins = !reasons_.empty() && reasons_.back().last + 1 == row && reasons_.back().dataset == dataset;
  if (joins) {
    reasons_.back().last = row;
  } else {
    reasons_.push_back({row, row, dataset, {}});
  }
}

void LostRows::mark(const std::vector<bool>& missing, const std::string& dataset) {
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i]) mark(i, dataset);
  }
}

void LostRows::mark_bad(std::size_t i, const std::string& text) {
  if (!skips_bad_) throw UserError(text + "; with skip-bad=yes, such rows are counted as lost");
  if (drop(i, DropCause::corrupt)) reasons_.push_back({row_ + i, row_ + i, {}, text});
}

void LostRows::report(DefectLog& log) const {
  for (const auto& reason : reasons_) {
    log.say(Defect::damage, [&] {
      if (!reason.defect.empty()) return "a row is lost: " + reason.defect;
      if (reason.first == reason.last)
        return fmt::format("row {} is lost: '{}' has no value there", reason.first, reason.dataset);
      return fmt::format("rows {} to {} are lost: '{}' has no value there", reason.first, reason.last, reason.dataset);
    });
  }
}

}  // namespace eventloom
