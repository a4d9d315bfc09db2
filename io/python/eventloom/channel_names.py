"""The names and groups of channels, from the detector map that a run keeps in /detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

TEXT_OF_THE_MAP = "map"  # in /detector, not a column
_COLUMNS = {"source": "u", "first_channel": "u", "last_channel": "u", "name": "U", "group": "U"}


@dataclass(frozen=True)
class Labels:
    """A text for each hit: `texts[codes]`. The first text is "", of hits without one; the others are in alphabetical order."""

    texts: list[str]
    codes: NDArray[np.int32]


class ChannelNames:
    """Finds the name and the groups of the channel of each hit. `table`: /detector, a row per range of channels.

    Raises ValueError for tables of other columns.
    """

    def __init__(self, table: Array) -> None:
        for name, kinds in _COLUMNS.items():
            if table[name].dtype.kind not in kinds:
                raise ValueError(f"its column {name} has values of the type {table[name].dtype}")
        table = table[np.lexsort((table["first_channel"], table["source"]))]
        self._first = _key(table["source"], table["first_channel"])
        self._last = _key(table["source"], table["last_channel"])
        self._columns = {name: _labels(table[name]) for name in ("name", "group")}

    @property
    def texts(self) -> dict[str, list[str]]:
        """The texts of `name` and `group`."""
        return {name: labels.texts for name, labels in self._columns.items()}

    def of_hits(self, source: Array, channel: Array) -> dict[str, Labels]:
        """`name` and `group` (all groups of a channel, joined by ';') of hits."""
        key = _key(source, channel)
        row = np.searchsorted(self._first, key, side="right") - 1
        row[key > np.append(self._last, 0)[row]] = -1  # the last label, see _labels()
        return {name: Labels(of_rows.texts, of_rows.codes[row]) for name, of_rows in self._columns.items()}


def _key(source: Array, channel: Array) -> NDArray[np.uint64]:
    key: NDArray[np.uint64] = source.astype(np.uint64) << np.uint64(32) | channel.astype(np.uint64)
    return key


def _labels(column: Array) -> Labels:
    """A label for each row, followed by the empty one for channels in no row."""
    texts, codes = np.unique(np.append(column, ""), return_inverse=True)
    return Labels(texts.tolist(), codes.astype(np.int32))
