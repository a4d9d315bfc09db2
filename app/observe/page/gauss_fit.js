// Fits a peak in a histogram: a Gaussian on a linear or constant background, by maximum likelihood for Poisson counts.
// The expected number of entries in a bin is the integral of the curve over it. Fisher scoring finds the maximum,
// damped like the Levenberg-Marquardt method; the inverse of the expected information gives the uncertainties. The
// deviance is twice the logarithm of the likelihood ratio (Baker and Cousins, NIM 221 (1984) 437). With many entries,
// its distribution approaches that of chi squared.

const FEWEST_ENTRIES = 20;
const SPARE_BINS = 2;
const MOST_STEPS = 300;
const CLOSE = 1e-6; // gain in deviance by the last step, which is then shorter than 1e-3 uncertainties
const FWHM_OF_SIGMA = 2 * Math.sqrt(2 * Math.LN2);
const SIGNIFICANT = 3; // an area of fewer uncertainties is not a peak
const NARROWEST = 0.3; // sigma in bins

// Abramowitz and Stegun, 7.1.6: all terms have the same sign.
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

function density(u, centre, sigma) {
  const z = (u - centre) / sigma;
  return Math.exp((-z * z) / 2) / (sigma * Math.sqrt(2 * Math.PI));
}

// The bins whose middles are in the range, with edges `u` from 0 to 1.
function binsWithin(edges, counts, low, high) {
  const inside = counts.map((_, i) => i).filter((i) => (edges[i] + edges[i + 1]) / 2 >= low && (edges[i] + edges[i + 1]) / 2 <= high);
  const [first, last] = [inside[0] || 0, inside[inside.length - 1] ?? -1];
  const begin = edges[first];
  const width = edges[last + 1] - begin;
  return { begin, width, counts: counts.slice(first, last + 1), u: edges.slice(first, last + 2).map((x) => (x - begin) / width) };
}

// The expected entries of each bin, and their derivatives. The parameters: area, centre and sigma of the peak, then the
// density of the background at both ends of the range (its width is 1), or one number where it is constant.
function expectation([area, centre, sigma, ...background], u) {
  const bells = u.map((x) => erf((x - centre) / (sigma * Math.SQRT2)) / 2);
  const heights = u.map((x) => density(x, centre, sigma));
  return u.slice(1).map((end, i) => {
    const begin = u[i];
    const width = end - begin;
    const middle = (begin + end) / 2;
    const shares = background.length === 1 ? [width] : [width * (1 - middle), width * middle];
    const share = bells[i + 1] - bells[i];
    const byCentre = -area * (heights[i + 1] - heights[i]);
    const bySigma = (-area * (heights[i + 1] * (end - centre) - heights[i] * (begin - centre))) / sigma;
    const mean = area * share + shares.reduce((sum, part, k) => sum + part * background[k], 0);
    return { mean, slopes: [share, byCentre, bySigma, ...shares] };
  });
}

function deviance(counts, expected) {
  return counts.reduce((sum, n, i) => {
    const { mean } = expected[i];
    if (n === 0) return sum + 2 * mean;
    return mean > 0 ? sum + 2 * (mean - n + n * Math.log(n / mean)) : Infinity;
  }, 0);
}

function informationOf(counts, expected) {
  const n = expected[0].slopes.length;
  const gradient = new Array(n).fill(0);
  const information = gradient.map(() => new Array(n).fill(0));
  expected.forEach(({ mean, slopes }, i) => {
    const floor = Math.max(mean, 1e-12);
    for (let a = 0; a < n; ++a) {
      gradient[a] += (slopes[a] * (counts[i] - mean)) / floor;
      for (let b = 0; b < n; ++b) information[a][b] += (slopes[a] * slopes[b]) / floor;
    }
  });
  return { gradient, information };
}

// Gauss-Jordan elimination; null if the matrix is singular.
function inverseOf(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let k = 0; k < n; ++k) {
    let pivot = k;
    for (let i = k + 1; i < n; ++i) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    if (!(Math.abs(rows[pivot][k]) > 1e-13 * Math.abs(matrix[pivot][pivot]))) return null;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    rows[k] = rows[k].map((value) => value / rows[k][k]);
    rows.forEach((row, i) => {
      if (i !== k && row[k] !== 0) rows[i] = row.map((value, j) => value - row[k] * rows[k][j]);
    });
  }
  return rows.map((row) => row.slice(n));
}

// Sigma and the background do not fall below these.
function leastOf(p) {
  return p.map((_, i) => (i === 2 ? 1e-6 : i > 2 ? 0 : -Infinity));
}

// Parameters stay at their limits where they would fall below them.
function freeOf(p, least, gradient) {
  return p.map((_, i) => i).filter((i) => p[i] > least[i] || gradient[i] > 0);
}

// Covariance of the free parameters, on the diagonal of which `damping` is added; null if it does not exist.
function covarianceOf(information, free, damping) {
  const scale = free.map((i) => Math.sqrt(information[i][i]) || 1);
  const scaled = free.map((i, a) => free.map((j, b) => information[i][j] / (scale[a] * scale[b]) + (a === b ? damping : 0)));
  const inverse = inverseOf(scaled);
  return inverse && inverse.map((row, a) => row.map((value, b) => value / (scale[a] * scale[b])));
}

// One step; returns the new state. `state`: {p, expected, value: the deviance, damping, done}.
function scoringStep(bins, state) {
  const { p } = state;
  const least = leastOf(p);
  const { gradient, information } = informationOf(bins.counts, state.expected);
  const free = freeOf(p, least, gradient);
  const covariance = covarianceOf(information, free, state.damping);
  if (!covariance) return { ...state, damping: 10 * state.damping + 1e-3 };
  const next = [...p];
  free.forEach((i, a) => {
    const step = covariance[a].reduce((sum, value, b) => sum + value * gradient[free[b]], 0);
    next[i] = Math.max(least[i], p[i] + step);
  });
  const expected = expectation(next, bins.u);
  const value = deviance(bins.counts, expected);
  const gain = free.reduce((sum, i) => sum + Math.abs((next[i] - p[i]) * gradient[i]), 0);
  // Rounding may make the deviance rise so close to its minimum.
  const done = gain < CLOSE && state.damping < 1e-3;
  if (!done && !(value <= state.value)) return { ...state, damping: 10 * state.damping + 1e-4 };
  return { p: next, expected, value, damping: state.damping < 1e-6 ? 0 : state.damping / 10, done };
}

// Returns the last state; null without convergence.
function scored(bins, start) {
  const expected = expectation(start, bins.u);
  let state = { p: start, expected, value: deviance(bins.counts, expected), damping: 1e-3, done: false };
  for (let step = 0; step < MOST_STEPS && !state.done; ++step) {
    state = scoringStep(bins, state);
    if (state.damping > 1e12) return null;
  }
  return state.done ? state : null;
}

// Two beginnings: a peak above what is at both ends of the range; if that leads nowhere, all entries in a peak.
function beginnings({ counts, u }, constant) {
  const total = counts.reduce((sum, n) => sum + n, 0);
  const outer = Math.max(1, Math.floor(counts.length / 6));
  const levelOf = (list, width) => Math.max(list.reduce((sum, n) => sum + n, 0), 0.5) / width;
  const levels = [levelOf(counts.slice(0, outer), u[outer]), levelOf(counts.slice(-outer), 1 - u[u.length - 1 - outer])];
  const above = counts.map((n, i) => n - (u[i + 1] - u[i]) * (levels[0] + ((levels[1] - levels[0]) * (u[i] + u[i + 1])) / 2));
  const smooth = above.map((n, i) => n + ((above[i - 1] ?? n) + (above[i + 1] ?? n)) / 2);
  const top = smooth.indexOf(greatest(smooth));
  const half = (step) => {
    let i = top;
    while (i + step >= 0 && i + step < smooth.length && smooth[i + step] > smooth[top] / 2) i += step;
    return i;
  };
  const width = u[half(1) + 1] - u[half(-1)];
  const area = Math.max(above.reduce((sum, n) => sum + n, 0), total / 100);
  const middles = counts.map((_, i) => (u[i] + u[i + 1]) / 2);
  const mean = counts.reduce((sum, n, i) => sum + n * middles[i], 0) / total;
  const spread = Math.sqrt(counts.reduce((sum, n, i) => sum + n * (middles[i] - mean) ** 2, 0) / total);
  const base = (both) => (constant ? [(both[0] + both[1]) / 2] : both);
  return [
    [area, middles[top], width / FWHM_OF_SIGMA, ...base(levels)],
    [total, mean, Math.max(spread, width / FWHM_OF_SIGMA), ...base([total / 50, total / 50])],
  ];
}

function failureOf(bins, p, errors) {
  if (!errors || errors.some((error) => !Number.isFinite(error))) return 'the data do not determine the peak';
  if (p[1] < 0 || p[1] > 1) return 'there is no peak in the range: the best centre lies outside of it';
  if (p[2] > 1) return 'the peak is wider than the range';
  if (p[2] < NARROWEST / bins.counts.length) return 'the peak is narrower than a bin';
  if (!(p[0] > SIGNIFICANT * errors[0])) return `there is no peak: its area is less than ${SIGNIFICANT} times its uncertainty`;
  return null;
}

// Uncertainties; of a background at its limit, 0. Null if there are none.
function errorsOf(bins, { p, expected }) {
  const { gradient, information } = informationOf(bins.counts, expected);
  const free = freeOf(p, leastOf(p), gradient);
  const covariance = covarianceOf(information, free, 0);
  return covariance && p.map((_, i) => (free.includes(i) ? Math.sqrt(covariance[free.indexOf(i)][free.indexOf(i)]) : 0));
}

// `low`, `high`: the range on the axis; `constant`: the background is. Returns {failure: why}, or pairs of value and
// uncertainty: centre, sigma and fwhm on the axis, area in entries; background in entries per unit of the axis, a pair,
// or one for each end of the range; deviance, ndf; from, to: the range, at edges of bins; at: the curve, which returns
// entries per unit of the axis.
function fitPeak(edges, counts, low, high, constant = false) {
  const bins = binsWithin(edges, counts, low, high);
  const n = constant ? 4 : 5;
  const entries = bins.counts.reduce((sum, count) => sum + count, 0);
  if (bins.counts.length < n + SPARE_BINS)
    return { failure: `too few bins in the range: ${bins.counts.length}, at least ${n + SPARE_BINS} are needed` };
  if (entries < FEWEST_ENTRIES)
    return { failure: `too few entries in the range: ${entries}, at least ${FEWEST_ENTRIES} are needed` };
  const [first, other] = beginnings(bins, constant);
  const best = scored(bins, first) || scored(bins, other);
  if (!best) return { failure: 'the fit does not converge' };
  const { p } = best;
  const errors = errorsOf(bins, best);
  const failure = failureOf(bins, p, errors);
  if (failure) return { failure };
  const { begin, width } = bins;
  const scaled = (i, by) => [p[i] * by, errors[i] * by];
  const levels = p.slice(3);
  return {
    area: scaled(0, 1),
    centre: [begin + p[1] * width, errors[1] * width],
    sigma: scaled(2, width),
    fwhm: scaled(2, width * FWHM_OF_SIGMA),
    background: levels.map((_, k) => scaled(3 + k, 1 / width)),
    deviance: best.value,
    ndf: bins.counts.length - errors.filter((error) => error > 0).length,
    from: begin,
    to: begin + width,
    at: (x) => {
      const u = (x - begin) / width;
      const base = constant ? levels[0] : levels[0] * (1 - u) + levels[1] * u;
      return (p[0] * density(u, p[1], p[2]) + base) / width;
    },
  };
}
