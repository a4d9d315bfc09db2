#include "io/run_format/histogram_record.hpp"

#include <numeric>

#include "core/runtime/error.hpp"

namespace eventloom {

std::uint64_t HistogramRecord::entries() const {
  return std::accumulate(counts.begin(), counts.end(), underflow + overflow);
}

void HistogramRecord::add(const HistogramRecord& other) {
  if (other.axes != axes) throw UserError("parts of the histogram '" + name + "' have different axes");
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  underflow += other.underflow;
  overflow += other.overflow;
}

std::vector<HistogramRecord> histogram_records(const HistogramSet& set, std::span<const std::uint64_t> cells,
                                               const std::string& value_unit) {
  std::vector<HistogramRecord> records;
  for (std::size_t i = 0; i < set.specs().size(); ++i) {
    const auto& spec = set.specs()[i];
    const auto of = set.cells_of(i, cells);
    HistogramRecord record{spec.name, spec.text, {}, {of.begin(), of.end() - 2}, of[of.size() - 2], of.back()};
    for (const auto& axis : spec.axes) {
      const bool is_value = axis.quantity == HistogramAxis::Quantity::value;
      record.axes.push_back({axis.text, is_value ? value_unit : axis.unit, axis.edges()});
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace eventloom
