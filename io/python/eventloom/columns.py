"""Reads the columns of some events, merging the rows of several parts in time order."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import DamagedFile
from .output_files import OutputFiles, Part
from .time_order import Rows

Array = NDArray[Any]
Integers = NDArray[np.int64]
Columns = dict[str, Array]

N_HITS = "events/n_hits"
EVENT_COLUMNS = ("events/time", "events/duration", N_HITS, "events/slice", "events/flags", "events/sources_missing")
HIT_COLUMNS = ("hits/time", "hits/channel", "hits/source")
FIRST_HIT, FIRST_PAYLOAD, PAYLOAD = "events/first_hit", "hits/first_payload", "payload"
PAYLOAD_COLUMNS = (FIRST_PAYLOAD, PAYLOAD)
VALUE = "hits/value"
_ROWS_OF_HITS = (*HIT_COLUMNS, VALUE)
PLAIN_COLUMNS = (*EVENT_COLUMNS, FIRST_HIT, *HIT_COLUMNS)


def known_columns(with_payload: bool, with_values: bool) -> tuple[str, ...]:
    """The columns of a run."""
    return PLAIN_COLUMNS + ((VALUE,) if with_values else ()) + (PAYLOAD_COLUMNS if with_payload else ())


def read_columns(files: OutputFiles, parts: Sequence[Part], rows: Rows, names: Sequence[str]) -> Columns:
    """The named columns of these events, as in a merged file of only these events."""
    ranges = [(part, begin, end) for part, begin, end in zip(parts, rows.begin, rows.end) if begin < end]
    # Without events, the columns of any part have the right types.
    pieces = [_Piece(files, *r, names) for r in ranges or [(part, 0, 0) for part in parts[:1]]]
    if not pieces:
        return {name: np.zeros(1 if "/first_" in name else 0, np.float64 if name == VALUE else np.uint64) for name in names}
    return _woven(pieces, names)


class _Piece:
    """The rows of one part: its columns, the number of hits per event and the number of words per hit."""

    def __init__(self, files: OutputFiles, part: Part, begin: int, end: int, names: Sequence[str]) -> None:
        self.part = part
        self.columns = {name: files.rows(part, name, begin, end) for name in names if name in EVENT_COLUMNS}
        self.time = self.columns.get(EVENT_COLUMNS[0])
        if self.time is None:
            self.time = files.rows(part, EVENT_COLUMNS[0], begin, end)
        self.hits: Integers = np.zeros(0, np.int64)
        self.words: Integers = np.zeros(0, np.int64)
        if any(name not in EVENT_COLUMNS for name in names):
            self._read_hits(files, files.rows(part, FIRST_HIT, begin, end + 1), begin, names)

    def _read_hits(self, files: OutputFiles, first_hit: Array, first_event: int,
                   names: Sequence[str]) -> None:
        self.hits = self._counts(first_hit, FIRST_HIT, first_event, self.part.hits)
        if not np.array_equal(self.hits, self.columns.get(N_HITS, self.hits)):
            raise DamagedFile(f"'{self.part.path}' is damaged: /{FIRST_HIT} and n_hits disagree")
        begin, end = int(first_hit[0]), int(first_hit[-1])
        self.columns.update({name: files.rows(self.part, name, begin, end) for name in names if name in _ROWS_OF_HITS})
        if any(name in PAYLOAD_COLUMNS for name in names):
            first_word = files.rows(self.part, FIRST_PAYLOAD, begin, end + 1)
            self.words = self._counts(first_word, FIRST_PAYLOAD, begin, files.length(self.part.path, PAYLOAD))
            if PAYLOAD in names:
                self.columns[PAYLOAD] = files.words(self.part, int(first_word[0]), int(first_word[-1]))

    def _counts(self, offsets: Array, name: str, row: int, total: int) -> Integers:
        """The number of items, out of `total`, in each of the rows from `row` on."""
        signed = offsets.astype(np.int64)
        counts = signed[1:] - signed[:-1]
        first, last = int(offsets[0]), int(offsets[-1])
        ends = row + len(offsets) == self.part.rows_of(name)
        if counts.min(initial=0) < 0 or last > total or row == 0 and first > 0 or ends and last < total:
            raise DamagedFile(f"'{self.part.path}' is damaged: the offsets of /{name} do not rise from 0 to {total}")
        return counts


def _woven(pieces: Sequence[_Piece], names: Sequence[str]) -> Columns:
    def joined(name: str) -> Array:
        return np.concatenate([piece.columns[name] for piece in pieces])

    order = _order(np.concatenate([piece.time for piece in pieces]))
    hits = np.concatenate([piece.hits for piece in pieces])
    words = np.concatenate([piece.words for piece in pieces])
    order_of_hits = _order_within(hits, order)
    woven: Columns = {}
    for name in names:
        if name in EVENT_COLUMNS:
            woven[name] = _taken(joined(name), order)
        elif name == FIRST_HIT:
            woven[name] = _offsets(_taken(hits, order))
        elif name in _ROWS_OF_HITS:
            woven[name] = _taken(joined(name), order_of_hits)
        elif name == FIRST_PAYLOAD:
            woven[name] = _offsets(_taken(words, order_of_hits))
        else:
            woven[name] = _taken(joined(name), _order_within(words, order_of_hits))
    return woven


def _order(time: Array) -> Optional[Integers]:
    """The permutation that sorts the events; None if they are sorted."""
    if bool(np.all(time[1:] >= time[:-1])):
        return None
    order: Integers = np.argsort(time, kind="stable")
    return order


def _order_within(counts: Integers, order: Optional[Integers]) -> Optional[Integers]:
    """The same permutation for the items of the events: `counts[i]` consecutive ones each."""
    if order is None or len(counts) == 0:
        return None
    first = np.cumsum(counts) - counts
    taken = counts[order]
    items: Integers = np.repeat(first[order] - (np.cumsum(taken) - taken), taken) + np.arange(int(taken.sum()))
    return items


def _taken(values: Array, order: Optional[Integers]) -> Array:
    return values if order is None else values[order]


def _offsets(counts: Integers) -> Array:
    offsets = np.zeros(len(counts) + 1, dtype=np.uint64)
    offsets[1:] = np.cumsum(counts)
    return offsets
