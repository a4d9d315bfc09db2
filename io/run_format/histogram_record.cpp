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

HistogramRecord histogram_record(const HistogramSpec& spec, std::span<const std::uint64_t> cells,
                                 const std::string& value_unit) {
  HistogramRecord record{spec.name, spec.text, {}, {}, 0, 0};
  for (const auto& axis : spec.axes) {
    const bool is_value = axis.quantity == HistogramAxis::Quantity::value;
    record.axes.push_back({axis.text, is_value ? value_unit : axis.unit, axis.edges()});
  }
  if (cells.empty()) return record;
  record.counts.assign(cells.begin(), cells.end() - 2);
  record.underflow = cells[cells.size() - 2];
  record.overflow = cells.back();
  return record;
}

std::vector<HistogramRecord> histogram_records(const HistogramSet& set, std::span<const std::uint64_t> cells,
                                               const std::string& value_unit) {
  std::vector<HistogramRecord> records;
  for (std::size_t i = 0; i < set.specs().size(); ++i)
    records.push_back(histogram_record(set.specs()[i], set.cells_of(i, cells), value_unit));
  return records;
}

}  // namespace eventloom
