#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dataflow/event_measure.hpp"
#include "core/definitions/histogram_spec.hpp"
#include "core/detector/detector.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// The histograms of a run (`--hist`), and how their cells are numbered: histogram by histogram, the bins, the second
/// axis fastest, then the entries below and above its range. An entry outside the ranges of both axes counts where the
/// first one puts it. Immutable after set_streams(), and then shared by threads.
class HistogramSet {
 public:
  /// `detector`: never null.
  explicit HistogramSet(DetectorPtr detector) : measure_(std::move(detector)) {}
  HistogramSet() : HistogramSet(std::make_shared<Detector>()) {}

  /// Throws UserError that states what was expected.
  void add(std::string_view text, const RunTicks& ticks);
  /// `stream_flags`: StreamFlag bits by source number; `with_payload`: whether hits of any source have payload. Throws
  /// UserError if a histogram needs values or trigger types that these sources lack.
  void set_streams(std::vector<std::uint32_t> stream_flags, bool with_payload);

  [[nodiscard]] const std::vector<HistogramSpec>& specs() const { return specs_; }
  [[nodiscard]] bool has_any(bool of_all_hits) const;
  [[nodiscard]] const EventMeasure& measure() const { return measure_; }

  [[nodiscard]] std::size_t cells() const { return first_cell_.back(); }
  /// How many cells a histogram has.
  [[nodiscard]] std::size_t cells_in(std::size_t histogram) const {
    return first_cell_[histogram + 1] - first_cell_[histogram];
  }
  /// The cells of a histogram: its bins, then two more.
  [[nodiscard]] std::span<const std::uint64_t> cells_of(std::size_t histogram,
                                                        std::span<const std::uint64_t> cells) const {
    return cells.subspan(first_cell_[histogram], cells_in(histogram));
  }
  /// The cell of an entry; std::nullopt if a coordinate is NaN. `at`: one number per axis.
  [[nodiscard]] std::optional<std::uint32_t> cell(std::size_t histogram, std::span<const double> at) const;
  /// Ticks as a number on an axis.
  [[nodiscard]] double on_axis(const HistogramAxis& axis, double ticks) const {
    return axis.unit_ps == 0 ? ticks : ticks * static_cast<double>(tick_ps_) / static_cast<double>(axis.unit_ps);
  }

 private:
  std::vector<HistogramSpec> specs_;
  std::vector<std::uint32_t> first_cell_ = {0};  ///< one more than histograms
  EventMeasure measure_;
  std::uint64_t tick_ps_ = 1;
};

/// Adds cells counted elsewhere. Throws std::runtime_error if one is out of range.
void add_cells(std::span<const FilledCell> filled, std::span<std::uint64_t> cells);

}  // namespace eventloom
