#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// A measured difference between two units: value of the second minus that of the first.
struct PairDifference {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  double value = 0;
  double error = 1;  ///< standard error, above 0
  bool used = true;  ///< false: contradicts the others
};

struct Solved {
  double value = 0;
  double error = 0;
};

/// Values of units, relative to that of the unit `reference`, that fit measured differences best: weighted least
/// squares over pairs. std::nullopt for units that no chain of pairs connects with the reference.
///
/// Differences that contradict the rest, such as a peak of chance coincidences, are left out, the worst first, and
/// marked in `differences`, as long as any is off by more than kOutlier of its standard errors and `slack`. Errors are
/// scaled by the square root of chi-squared per degree of freedom where that is above 1.
std::vector<std::optional<Solved>> solve_pairs(std::size_t units, std::size_t reference,
                                               std::span<PairDifference> differences, double slack);
inline constexpr double kOutlier = 6;

/// The standard errors of `solved`, what solve_pairs() made of the differences, if these are not independent:
/// `covariance` is that of the sums, by unit, of value / error^2 over the used differences (less where the unit is the
/// first of them), a square matrix by rows. Larger by the square root of chi-squared per degree of freedom where
/// differences contradict each other. 0 for the reference and for units without a value.
std::vector<double> errors_of(std::size_t reference, std::span<const PairDifference> differences,
                              std::span<const std::optional<Solved>> solved, std::span<const double> covariance);

}  // namespace eventloom
