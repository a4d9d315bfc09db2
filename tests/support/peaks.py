"""Peaks on a background, and their fits by iterated least squares, weighted by the expected counts: this is maximum
likelihood."""

import math

import numpy as np

ERF = np.vectorize(math.erf)


def expected(edges, parameters):
    """Expected entries of each bin: of a Gaussian (area, centre, sigma), and of a background with a density at both
    ends, or one."""
    area, centre, sigma, *levels = parameters
    bells = ERF((edges - centre) / (sigma * math.sqrt(2))) / 2
    middles = ((edges[1:] + edges[:-1]) / 2 - edges[0]) / (edges[-1] - edges[0])
    return area * np.diff(bells) + np.diff(edges) * (levels[0] * (1 - middles) + levels[-1] * middles)


def fit(edges, counts, begin):
    """Values and uncertainties, starting from the parameters `begin`. Distances from the first edge keep digits that
    would otherwise be lost."""
    origin = np.array([0, edges[0], *[0] * (len(begin) - 2)])
    values, errors = _fit(edges - edges[0], counts, np.array(begin, float) - origin)
    return values + origin, errors


def _fit(edges, counts, parameters):
    for _ in range(200):
        means = expected(edges, parameters)
        steps = 1e-6 * np.maximum(np.abs(parameters), 1e-9)
        slopes = np.array([(expected(edges, parameters + row) - expected(edges, parameters - row)) / (2 * row.sum()) for row in np.diag(steps)]).T
        weights = 1 / np.sqrt(means)
        change = np.linalg.lstsq(slopes * weights[:, None], (counts - means) * weights, rcond=None)[0]
        parameters = parameters + change
        errors = np.sqrt(np.diag(np.linalg.inv((slopes * weights[:, None]).T @ (slopes * weights[:, None]))))
        if np.all(np.abs(change) < 1e-7 * errors):
            return parameters, errors
    raise AssertionError("the reference does not converge")


def generated(seed, edges, parameters):
    return np.random.default_rng(seed).poisson(expected(edges, parameters))
