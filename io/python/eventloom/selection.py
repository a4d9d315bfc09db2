"""Some or all events of a run."""

from __future__ import annotations

import itertools
import operator
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional, Union, overload

import numpy as np
from numpy.typing import NDArray

from .arguments import whole_number
from .channel_names import TEXT_OF_THE_MAP, ChannelNames
from .columns import FIRST_HIT, FIRST_PAYLOAD, HIT_COLUMNS, PAYLOAD, VALUE, Columns, read_columns
from .exports import KINDS_IN_ROOT, Writer, parquet_writer, publish, root_writer
from .frames import Frames, awkward_array, pandas_frames
from .output_files import OutputFiles
from .partial_file import PartialFile
from .payload_columns import PayloadColumn
from .time_order import Rows, TimeOrder

PathLike = Union[str, "os.PathLike[str]"]

_PAGE = 64  # events that are read together when one is requested
_ITERATED = 4096  # ... when all are requested one by one
_ROW = tuple(f"events/{name}" for name in ("time", "duration", "slice", "flags", "sources_missing"))  # as in Event


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of an event as columns.

    `payload` has the words of each hit (None: the run has no payload), `value` the calibrated values, NaN for hits without
    payload (None: the run's map of the detector has no gains).
    """

    time: NDArray[np.uint64]
    channel: NDArray[np.uint32]
    source: NDArray[np.uint16]
    payload: Optional[list[NDArray[np.uint32]]]
    value: Optional[NDArray[np.float64]] = None

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class Event:
    """An event: its number in time order, its row of /events, and its hits. Times are in ticks."""

    number: int
    time: int
    duration: int
    slice: int
    flags: int
    sources_missing: int
    hits: Hits


class Selection:
    """Consecutive events in time order. Data are read only on demand.

    >>> import eventloom
    >>> run = eventloom.open("sea.h5")
    >>> some = run[100:200]
    >>> len(some), some[0].number, some[-1].number
    (100, 100, 199)
    >>> [len(event.hits) for event in some[:5]]
    [4, 4, 4, 4, 4]
    """

    def __init__(self, files: OutputFiles, order: TimeOrder, rows: Rows, known: tuple[str, ...], run_file: Path,
                 payload: tuple[PayloadColumn, ...]) -> None:
        self._files, self._order, self._rows, self._known, self._run_file = files, order, rows, known, run_file
        self._payload = payload
        self._page: tuple[int, list[Event]] = (-1, [])  # number and events of the page read last

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} events from number {self._first_number} on>"

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> Selection: ...

    def __getitem__(self, place: Union[int, slice]) -> Union[Event, Selection]:
        """One event, or a selection of events."""
        if isinstance(place, slice):
            begin, end, step = place.indices(len(self))
            if step != 1:
                raise ValueError(f"events in steps of {step}: take every one, and then the steps of its columns()")
            return self._stretch(begin, max(begin, end))
        number = operator.index(place)
        number += len(self) if number < 0 else 0
        if not 0 <= number < len(self):
            raise IndexError(f"event {place} of {len(self)}")
        page, within = divmod(number, _PAGE)
        if self._page[0] != page:
            self._page = page, list(self._stretch(page * _PAGE, min((page + 1) * _PAGE, len(self)))._events())
        return self._page[1][within]

    def __iter__(self) -> Iterator[Event]:
        for chunk in self.chunks(_ITERATED):
            yield from chunk._events()

    def between(self, begin: int, end: int) -> Selection:
        """The events whose first hit is at tick `begin` or later, but before `end`.

        >>> import eventloom
        >>> [event.time for event in eventloom.open("sea.h5").between(50_902_000_000, 50_903_000_000)]
        [50902270655, 50902934129]
        """
        begin, end = whole_number("begin", begin), whole_number("end", end)
        from_begin = Rows(self._order.rows_before(self._rows, begin), self._rows.end)
        return self._of(Rows(from_begin.begin, self._order.rows_before(from_begin, max(begin, end))))

    def chunks(self, events: int = 100_000) -> Iterator[Selection]:
        """Consecutive selections of `events` events each. Memory is bounded if only one is held at a time.

        >>> import eventloom
        >>> [len(chunk) for chunk in eventloom.open("sea.h5").chunks(events=300)]
        [300, 300, 128]
        """
        events = whole_number("events", events, least=1)
        rest = self._rows
        while len(rest) > 0:
            end = self._order.rows_of_first(rest, min(events, len(rest)))
            yield self._of(Rows(rest.begin, end))
            rest = Rows(end, rest.end)

    def columns(self, *names: str) -> Columns:
        """Columns as numpy arrays, by their names in the files; without arguments, all columns.

        The offsets `events/first_hit` and `hits/first_payload` count from the selection's first hit and payload word.

        >>> import eventloom
        >>> some = eventloom.open("sea.h5")[:3].columns("events/time", "events/n_hits", "hits/channel")
        >>> some["events/n_hits"]
        array([4, 4, 4], dtype=uint32)
        >>> some["hits/channel"][:4]
        array([ 6, 20, 27,  6], dtype=uint32)
        """
        for name in names:
            if name not in self._known:
                raise ValueError(f"no column '{name}'; there are {', '.join(self._known)}")
        return read_columns(self._files, self._order.parts, self._rows, names or self._known)

    def to_awkward(self, *, names: bool = False) -> Any:
        """An awkward array of records, one per event, with a list of `hits` each. Needs the package awkward.

        `hits.dt` are signed times since the first hit of the event, for differences: times themselves are unsigned. With
        `names`, `hits.name` and `hits.group` are categorical texts, as in to_pandas().
        """
        return awkward_array(self.columns(), self._names(names), self._payload)

    def to_root(self, path: PathLike, *, kind: str = "ttree", names: bool = False, overwrite: bool = False) -> None:
        """Writes the events to a ROOT file, as the TTree or, with kind "rntuple", the RNTuple `events`.

        Needs the packages uproot and awkward. A TTree has `nhits` and `hits_time`, `hits_channel`, ...; the payload words
        of its hits are `hits_payload_0`, `hits_payload_1`, ..., 0 where a hit has fewer (`hits_payload_words`). Columns of
        payload with names, such as `hits_energy`, are as in to_pandas(), with 0 for <NA>. With `names`, an RNTuple has the
        texts `name` and `group` of each hit; a TTree has `hits_name` and `hits_group`, which are entries of the TTrees
        `names` and `groups`.
        """
        if kind not in KINDS_IN_ROOT:
            raise ValueError(f"kind is {kind!r}: give one of {', '.join(KINDS_IN_ROOT)}")
        write = self._root_writer(kind, names)
        publish(PartialFile(Path(path), b"root", overwrite, "a ROOT file"), write)

    def to_parquet(self, path: PathLike, *, names: bool = False, overwrite: bool = False) -> None:
        """Writes the events, with lists of hits, to a Parquet file. Needs the packages pyarrow and awkward.

        With `names`, hits have the texts `name` and `group`, as in to_pandas().
        """
        write = self._parquet_writer(names)
        publish(PartialFile(Path(path), b"PAR1", overwrite, "a Parquet file"), write)

    def to_pandas(self, *, names: bool = False) -> Frames:
        """Two frames, `events` and `hits`. Column `event` of `hits` is the row of the event. Needs the package pandas.

        `hits` has the payload words `payload_0`, `payload_1`, ... and, where all sources with payload have the same columns
        of payload, also these by their names, as the numbers that they are. Hits without them have NaN, or <NA>.

        With `names`, `hits` has the categorical columns `name` and `group` (several joined by ';') of the hits' channels, by
        the detector map of the run; "" for channels without.

        >>> import eventloom
        >>> events, hits = eventloom.open("sea.h5")[:100].to_pandas()
        >>> int(events["n_hits"].max()), int(hits["payload_0"].max())
        (6, 70)
        >>> hits["tot"].tolist() == hits["payload_0"].tolist()
        True
        """
        return pandas_frames(self.columns(), self._names(names), self._payload)

    def _events(self) -> Iterator[Event]:
        """The events, whose arrays are views of the columns of all of them."""
        columns = self.columns()
        begins = columns[FIRST_HIT].tolist()
        rows = zip(itertools.count(self._first_number), begins, begins[1:], *(columns[name].tolist() for name in _ROW))
        for number, begin, end, time, duration, in_slice, flags, missing in rows:
            yield Event(number, time, duration, in_slice, flags, missing, _hits(columns, begin, end))

    def _chunks_of_columns(self) -> Iterator[Columns]:
        """At least one, with the types of the columns if there are no events."""
        if len(self) == 0:
            yield self.columns()
        for chunk in self.chunks():
            yield chunk.columns()

    def _root_writer(self, kind: str, names: bool) -> Writer:
        words = self._most_payload_words() if kind == "ttree" else 0
        return root_writer(self._chunks_of_columns(), words, kind, self._names(names), self._payload)

    def _parquet_writer(self, names: bool) -> Writer:
        return parquet_writer(self._chunks_of_columns(), self._names(names), self._payload)

    def _names(self, wanted: bool) -> Optional[ChannelNames]:
        if not wanted:
            return None
        table = self._files.table(self._run_file, "detector", (TEXT_OF_THE_MAP,))
        if not table.dtype.names:
            raise ValueError(f"'{self._run_file}' has no names: its run was given neither --detector nor --group")
        with self._files.reading(self._run_file, "detector"):
            return ChannelNames(table)

    def _most_payload_words(self) -> int:
        if PAYLOAD not in self._known:
            return 0
        firsts = (chunk.columns(FIRST_PAYLOAD)[FIRST_PAYLOAD].astype(np.int64) for chunk in self.chunks())
        return max((int(np.diff(first).max(initial=0)) for first in firsts), default=0)

    @property
    def _first_number(self) -> int:
        return sum(self._rows.begin)

    def _of(self, rows: Rows) -> Selection:
        return Selection(self._files, self._order, rows, self._known, self._run_file, self._payload)

    def _stretch(self, begin: int, end: int) -> Selection:
        first = self._order.rows_of_first(self._rows, begin)
        return self._of(Rows(first, self._order.rows_of_first(Rows(first, self._rows.end), end - begin)))


def _hits(columns: Columns, begin: int, end: int) -> Hits:
    payload = None
    if PAYLOAD in columns:
        first = columns[FIRST_PAYLOAD][begin:end + 1].tolist()
        words = columns[PAYLOAD]
        payload = [words[a:b] for a, b in zip(first, first[1:])]
    time, channel, source = (columns[name][begin:end] for name in HIT_COLUMNS)
    return Hits(time, channel, source, payload, columns[VALUE][begin:end] if VALUE in columns else None)
