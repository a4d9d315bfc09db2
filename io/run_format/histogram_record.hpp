#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/histogram_set.hpp"

namespace eventloom {

/// An axis of a histogram in an output file.
struct HistogramAxisRecord {
  std::string quantity;  ///< "dt(A,B)"
  std::string unit;      ///< "ns"; empty for plain numbers
  std::vector<double> edges;
  friend bool operator==(const HistogramAxisRecord&, const HistogramAxisRecord&) = default;
};

/// A histogram in an output file: /histograms/NAME. Each entry is in a bin, in `underflow` or in `overflow`.
struct HistogramRecord {
  std::string name;
  std::string text;  ///< text from the user
  std::vector<HistogramAxisRecord> axes;
  std::vector<std::uint64_t> counts;  ///< the last axis fastest
  std::uint64_t underflow = 0;
  std::uint64_t overflow = 0;

  [[nodiscard]] std::uint64_t entries() const;
  /// Adds another part of the same histogram. Throws UserError if it has other axes.
  void add(const HistogramRecord& other);
};

/// A histogram of a set, with its cells; without any, it has no counts. `value_unit`: unit of the values of hits.
HistogramRecord histogram_record(const HistogramSpec& spec, std::span<const std::uint64_t> cells,
                                 const std::string& value_unit);
/// The histograms of a set, with the cells of all of them.
std::vector<HistogramRecord> histogram_records(const HistogramSet& set, std::span<const std::uint64_t> cells,
                                               const std::string& value_unit);

}  // namespace eventloom
