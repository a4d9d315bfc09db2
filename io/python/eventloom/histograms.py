"""The histograms that a run has filled."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Histogram:
    """A histogram of a run. Bins include their lower edge, not the upper one.

    `counts` has one or two dimensions, `edges`, `quantities` and `units` an element for each ("" for a plain number).
    `entries` are all: those in `counts`, below the range (`underflow`) and above it (`overflow`).
    """

    name: str
    counts: NDArray[np.uint64]
    edges: tuple[NDArray[np.float64], ...]
    quantities: tuple[str, ...]
    units: tuple[str, ...]
    entries: int
    underflow: int
    overflow: int

    def to_boost(self) -> Any:
        """A `boost_histogram.Histogram` with counts as doubles, as ROOT files have them.

        With two axes, it lacks the entries outside the range.
        """
        return self._filled(importlib.import_module("boost_histogram"), {})

    def to_hist(self) -> Any:
        """The same as a `hist.Hist`, with labels of the axes for its plots."""
        labels = [f"{quantity} [{unit}]" if unit else quantity for quantity, unit in zip(self.quantities, self.units)]
        return self._filled(importlib.import_module("hist"), {"label": labels})

    def _filled(self, package: Any, labels: dict[str, list[str]]) -> Any:
        axes = [package.axis.Regular(len(edges) - 1, edges[0], edges[-1], **{key: texts[i] for key, texts in labels.items()})
                for i, edges in enumerate(self.edges)]
        made = getattr(package, "Hist", None) or package.Histogram
        histogram = made(*axes, storage=package.storage.Double())
        histogram.view()[...] = self.counts
        if len(self.edges) == 1:
            histogram.view(flow=True)[[0, -1]] = self.underflow, self.overflow
        return histogram


def histogram_in(file: h5py.File, name: str) -> Histogram:
    """Raises KeyError or ValueError if it is missing or contradicts itself."""
    group = file["histograms"][name]
    counts = group["counts"][()]
    edges = tuple(group[f"edges_{axis}"][()] for axis in range(counts.ndim))
    if counts.dtype.kind != "u" or counts.shape != tuple(len(of) - 1 for of in edges):
        raise ValueError(f"the counts of '{name}' do not fit its edges")
    entries, underflow, overflow = (int(group.attrs[key]) for key in ("entries", "underflow", "overflow"))
    if int(counts.sum()) + underflow + overflow != entries:
        raise ValueError(f"the counts of '{name}' are not its entries")
    units = tuple(str(group[f"edges_{axis}"].attrs.get("units", "")) for axis in range(counts.ndim))
    return Histogram(name, counts, edges, tuple(str(group.attrs["quantity"]).split(";")), units, entries, underflow, overflow)
