#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions/expression.hpp"
#include "core/definitions/hit_selection.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// An axis of a histogram: bins of equal width from `low` to `high`, which is excluded.
struct HistogramAxis {
  enum class Quantity : std::uint8_t {
    value,     ///< value of each hit that has one
    dt,        ///< time of the second hit of a pair minus that of the first
    n_hits,    ///< number of hits of each event
    duration,  ///< duration of each event
    channel,   ///< channel of each hit
    time,      ///< time of each event or, in a histogram of all hits, of each hit
  };
  Quantity quantity = Quantity::n_hits;
  std::size_t hit = 0;  ///< value and channel: index in HistogramSpec::hits
  double low = 0;       ///< set by set_range(), with the next members
  double high = 0;
  std::uint32_t bins = 0;
  double step = 0;            ///< width of a bin
  double steps_per_unit = 0;  ///< its reciprocal
  std::uint64_t unit_ps = 0;  ///< unit of times; 0: they are event numbers, or the quantity is not a time
  std::string text;           ///< the quantity as written by the user: "dt(A,B)"
  std::string unit;           ///< "ns"; empty for plain numbers and values

  void set_range(double from, double to, std::uint32_t n);
  /// Whether numbers of double precision resolve its bins.
  [[nodiscard]] bool resolves_bins() const;
  /// Lower edge of a bin; that of `bins` is `high`.
  [[nodiscard]] double edge(std::uint32_t bin) const {
    return bin == bins ? high : low + static_cast<double>(bin) * step;
  }
  [[nodiscard]] std::vector<double> edges() const;
  /// The bin of a number that is not NaN: -1 below the first, `bins` above the last.
  [[nodiscard]] std::int64_t bin_of(double number) const;
};

/// A histogram of the events of a run, or of all its hits.
///
/// It is filled for each way to choose the hits that its axes need: once per event if they need none, for each hit,
/// or for each pair of two different hits. An axis of values excludes hits that have none.
struct HistogramSpec {
  std::string text;  ///< text from the user
  std::string name;
  bool of_all_hits = false;
  std::vector<HistogramAxis> axes;  ///< one or two
  /// The hits that an entry is made of, at most two; std::nullopt: any.
  std::vector<std::optional<HitSelection>> hits;
  std::optional<Expression> condition;  ///< decides on the event or, for all hits, on the hit as a separate event

  [[nodiscard]] std::size_t bins() const;
  /// The axes as written by the user: "value(Ge);dt(Ge,plastic)".
  [[nodiscard]] std::string quantity() const;
  [[nodiscard]] bool uses_values() const;
};

/// Most bins of a histogram.
inline constexpr std::size_t kMostBins = std::size_t{1} << 24;

/// Parses NAME=QUANTITY:LO..HI/BINS[;QUANTITY:LO..HI/BINS][ if EXPR][@hits]. Times are in ns, or in the unit of LO;
/// event numbers have none. Throws TextMistake.
HistogramSpec parse_histogram(std::string_view text, const RunTicks& ticks, const Detector& detector);

/// The forms of a histogram, for messages and `--help`.
std::string_view histogram_usage();

}  // namespace eventloom
