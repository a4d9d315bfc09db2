#include "app/tools/align/pair_solution.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

/// The units connected with the reference by used differences, itself included: their places in the equations.
std::vector<std::optional<std::size_t>> places_of(std::size_t units, std::size_t reference,
                                                  std::span<const PairDifference> differences) {
  std::vector<bool> reached(units);
  reached[reference] = true;
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& pair : differences) {
      if (!pair.used || reached[pair.first] == reached[pair.second]) continue;
      reached[pair.first] = reached[pair.second] = true;
      grows = true;
    }
  }
  std::vector<std::optional<std::size_t>> places(units);
  std::size_t next = 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (reached[unit] && unit != reference) places[unit] = next++;
  }
  return places;
}

/// The normal equations of the units with places, in which the value of the reference is 0. Their matrix is symmetric
/// and positive definite: a chain of pairs connects each unit with the reference.
class Equations {
 public:
  Equations(std::size_t n, std::span<const std::optional<std::size_t>> places,
            std::span<const PairDifference> differences)
      : n_(n), matrix_(n * n), sums_(n) {
    for (const auto& pair : differences) {
      if (pair.used) add(places[pair.first], places[pair.second], pair);
    }
    factorise();
  }

  [[nodiscard]] std::vector<double> solve() const { return substitute(sums_); }
  /// Column i of the inverse matrix.
  [[nodiscard]] std::vector<double> inverse(std::size_t i) const {
    std::vector<double> unit(n_);
    unit[i] = 1;
    return substitute(std::move(unit));
  }
  /// Element i of the diagonal of the inverse matrix: the variance of value i.
  [[nodiscard]] double variance(std::size_t i) const {
    std::vector<double> unit(n_);
    unit[i] = 1;
    double sum = 0;
    for (const double x : forward(std::move(unit))) sum += x * x;
    return sum;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return matrix_[row * n_ + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return matrix_[row * n_ + column]; }

  void add(std::optional<std::size_t> a, std::optional<std::size_t> b, const PairDifference& pair) {
    const double weight = 1 / (pair.error * pair.error);
    if (a) at(*a, *a) += weight;
    if (b) at(*b, *b) += weight;
    if (a) sums_[*a] -= weight * pair.value;
    if (b) sums_[*b] += weight * pair.value;
    if (a && b) at(std::max(*a, *b), std::min(*a, *b)) -= weight;
  }

  /// Replaces the lower triangle by its Cholesky factor (Golub and Van Loan, Matrix Computations, algorithm 4.2.1).
  void factorise() {
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = j; i < n_; ++i) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      }
    }
  }
  [[nodiscard]] std::vector<double> forward(std::vector<double> x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
      x[i] /= at(i, i);
    }
    return x;
  }
  [[nodiscard]] std::vector<double> substitute(std::vector<double> x) const {
    x = forward(std::move(x));
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) x[i] -= at(k, i) * x[k];
      x[i] /= at(i, i);
    }
    return x;
  }

  std::size_t n_;
  std::vector<double> matrix_;  ///< rows one after the other; only the lower triangle is used
  std::vector<double> sums_;
};

std::vector<std::optional<Solved>> solve_once(std::size_t units, std::size_t reference,
                                              std::span<const PairDifference> differences) {
  const auto places = places_of(units, reference, differences);
  const auto n = static_cast<std::size_t>(std::ranges::count_if(places, [](const auto& at) { return at.has_value(); }));
  std::vector<std::optional<Solved>> solved(units);
  solved[reference] = Solved{};
  if (n == 0) return solved;
  const Equations equations(n, places, differences);
  const auto values = equations.solve();
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (const auto at = places[unit]) solved[unit] = {values[*at], std::sqrt(equations.variance(*at))};
  }
  return solved;
}

/// How far a difference is from the solution; std::nullopt if it took no part.
std::optional<double> residual(const PairDifference& pair, std::span<const std::optional<Solved>> solved) {
  const auto& a = solved[pair.first];
  const auto& b = solved[pair.second];
  if (!pair.used || !a || !b) return std::nullopt;
  return std::abs(b->value - a->value - pair.value);
}

/// Leaves out the differences that contradict the others most: those at least half as far off as the worst, since one
/// wrong difference distorts right ones. Returns whether there were any.
bool leave_out_worst(std::span<PairDifference> differences, std::span<const std::optional<Solved>> solved,
                     double slack) {
  const auto off_by = [&](const PairDifference& pair) {
    const double off = residual(pair, solved).value_or(0);
    return off <= slack ? 0 : off / pair.error;
  };
  double most = 0;
  for (const auto& pair : differences) most = std::max(most, off_by(pair));
  if (most <= kOutlier) return false;
  for (auto& pair : differences) pair.used = pair.used && off_by(pair) <= std::max(kOutlier, most / 2);
  return true;
}

struct Fit {
  double chi_squared = 0;
  double freedom = 1;  ///< the reference is not a parameter
};

Fit fit_of(std::span<const PairDifference> differences, std::span<const std::optional<Solved>> solved) {
  Fit fit;
  for (const auto& pair : differences) {
    if (const auto off = residual(pair, solved)) {
      fit.chi_squared += *off * *off / (pair.error * pair.error);
      fit.freedom += 1;
    }
  }
  for (const auto& unit : solved) fit.freedom -= unit ? 1 : 0;
  return fit;
}

void scale_errors(std::span<const PairDifference> differences, std::vector<std::optional<Solved>>& solved) {
  const auto [chi_squared, freedom] = fit_of(differences, solved);
  if (freedom < 1 || chi_squared <= freedom) return;
  for (auto& unit : solved) {
    if (unit) unit->error *= std::sqrt(chi_squared / freedom);
  }
}

/// 1 unless chi-squared is too large by chance.
double contradiction_in(const Fit& fit) {
  constexpr double kSigmas = 3;
  if (fit.freedom < 1 || fit.chi_squared <= fit.freedom + kSigmas * std::sqrt(2 * fit.freedom)) return 1;
  return std::sqrt(fit.chi_squared / fit.freedom);
}

}  // namespace

std::vector<std::optional<Solved>> solve_pairs(std::size_t units, std::size_t reference,
                                               std::span<PairDifference> differences, double slack) {
  auto solved = solve_once(units, reference, differences);
  while (leave_out_worst(differences, solved, slack)) solved = solve_once(units, reference, differences);
  scale_errors(differences, solved);
  return solved;
}

std::vector<double> errors_of(std::size_t reference, std::span<const PairDifference> differences,
                              std::span<const std::optional<Solved>> solved, std::span<const double> covariance) {
  const std::size_t units = solved.size();
  const auto places = places_of(units, reference, differences);
  std::vector<std::size_t> placed;
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (places[unit]) placed.push_back(unit);
  }
  std::vector<double> errors(units);
  if (placed.empty()) return errors;
  const Equations equations(placed.size(), places, differences);
  const double contradiction = contradiction_in(fit_of(differences, solved));
  for (const auto unit : placed) {
    const auto weights = equations.inverse(*places[unit]);
    double variance = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      for (std::size_t j = 0; j < placed.size(); ++j)
        variance += weights[i] * covariance[placed[i] * units + placed[j]] * weights[j];
    }
    errors[unit] = contradiction * std::sqrt(variance);
  }
  return errors;
}

}  // namespace eventloom
