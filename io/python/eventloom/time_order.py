"""Finds the events of all parts of a run in time order, without reading all times."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import DamagedFile
from .output_files import OutputFiles, Part

_BLOCK = 1 << 15  # times read together
_MOST_BLOCKS = 64
_END_OF_TIME = 1 << 64


@dataclass(frozen=True)
class Rows:
    """The rows of /events in each part, from `begin` up to but excluding `end`: consecutive events in time order."""

    begin: tuple[int, ...]
    end: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.end) - sum(self.begin)

    def parts(self) -> list[int]:
        """The parts that have rows."""
        return [part for part, (begin, end) in enumerate(zip(self.begin, self.end)) if begin < end]


class TimeOrder:
    """Finds the rows of events by time, or by number in time order."""

    def __init__(self, files: OutputFiles, parts: Sequence[Part]) -> None:
        self._files, self.parts = files, parts
        self._block = functools.lru_cache(maxsize=_MOST_BLOCKS)(self._read_block)

    def all(self) -> Rows:
        return Rows((0,) * len(self.parts), tuple(part.events for part in self.parts))

    def rows_before(self, rows: Rows, time: int) -> tuple[int, ...]:
        """For each part, the end of its rows before `time`."""
        return tuple(begin if begin == end else self._row_of(part, time, begin, end)
                     for part, (begin, end) in enumerate(zip(rows.begin, rows.end)))

    def rows_of_first(self, rows: Rows, n: int) -> tuple[int, ...]:
        """For each part, the end of its rows among the first `n` events."""
        with_rows = rows.parts()
        if len(with_rows) < 2:
            return tuple(begin + n * (part in with_rows) for part, begin in enumerate(rows.begin))
        wanted = sum(rows.begin) + n
        low, high, begin, end = rows.begin, rows.end, 0, _END_OF_TIME
        while sum(low) != wanted:
            if end - begin < 2:  # many clusters, or events of several sources, may begin at one tick, but in one part
                together = Rows(low, high)
                if len(together.parts()) > 1:
                    raise DamagedFile(f"'{self.parts[0].path.parent}': events of two parts begin at tick {begin}")
                return self.rows_of_first(together, wanted - sum(low))
            middle = (begin + end) // 2
            rows_before = self.rows_before(Rows(low, high), middle)
            if sum(rows_before) <= wanted:
                low, begin = rows_before, middle
            else:
                high, end = rows_before, middle
        return low

    def _row_of(self, part: int, time: int, begin: int, end: int) -> int:
        """The first row of a part, from `begin` to `end`, whose time is at least `time`."""
        if time <= self.parts[part].begin:
            return begin
        if time > self.parts[part].last:
            return end
        while begin < end:
            number = (begin + end) // 2 // _BLOCK
            block, start = self._block(part, number), number * _BLOCK
            within = int(np.searchsorted(block, np.uint64(time)))
            if 0 < within < len(block):
                return min(max(start + within, begin), end)
            if within == 0:
                end = max(begin, start)
            else:
                begin = min(end, start + len(block))
        return begin

    def _read_block(self, part: int, number: int) -> NDArray[np.uint64]:
        rows = self.parts[part].events
        return self._files.rows(self.parts[part], "events/time", number * _BLOCK, min((number + 1) * _BLOCK, rows))
