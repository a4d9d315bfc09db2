"""A run: its events and the contents of its run file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Optional, Type

import numpy as np

from .channel_names import TEXT_OF_THE_MAP
from .columns import known_columns
from .histograms import Histogram, histogram_in
from .opening import OpenedRun
from .output_files import Array
from .payload_columns import payload_columns
from .selection import Selection
from .time_order import TimeOrder

_TABLES = ("alarms", "builders", "clocks", "counters", "detector", "latency", "rates", "source_counters")
_LACKING_IN_THE_FIRST_VERSION = {"description": ""}
_LISTS_OF_THE_LEDGER = ("sources_missing_list", "sources_missing_offsets")


@dataclass(frozen=True)
class Source:
    """A source of a run; its number is its index in `Run.sources`."""

    name: str
    uri: str
    path: str
    description: str
    bytes: int
    crc32c: int
    id: int


@dataclass(frozen=True)
class _Counter:
    name: str
    value: int


class Run(Selection):
    """All events of a run, and the contents of its run file. A `with` block closes its files, like close().

    >>> import eventloom
    >>> with eventloom.open("sea.h5") as run:
    ...     print(len(run), run.complete, run.attributes["definition"], run.totals["hits_in"])
    728 True gap:25ns,4 147463
    """

    def __init__(self, opened: OpenedRun) -> None:
        order = TimeOrder(opened.files, opened.parts)
        known = known_columns(bool(opened.attributes["with_payload"]), bool(opened.attributes.get("with_values")))
        super().__init__(opened.files, order, order.all(), known, opened.path, payload_columns(opened.attributes, opened.path))
        self._opened = opened

    def __repr__(self) -> str:
        return f"<run '{self.path}' of {len(self)} events{'' if self.complete else ', not complete'}>"

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files. Reading afterwards raises ValueError."""
        self._files.close()

    @property
    def path(self) -> Path:
        """The path of the run file."""
        return self._opened.path

    @property
    def complete(self) -> bool:
        """Whether the run has ended. If not, events, totals and ledger cover the parts finished so far."""
        return bool(self._opened.attributes["closed"])

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the run file: definition, hosts, versions, time_of_tick_0, ..."""
        return self._opened.attributes

    @property
    def tick_ps(self) -> int:
        """Unit of all times in picoseconds; meaningless if times are event numbers."""
        return int(self._opened.attributes["tick_ps"])

    @property
    def setup(self) -> dict[str, list[str]]:
        """The options of the run, each with a list of values.

        >>> import eventloom
        >>> eventloom.open("sea.h5").setup["define"]
        ['gap:25ns,4']
        """
        options: dict[str, list[str]] = {}
        for line in str(self._opened.attributes["setup"]).split("\n"):
            name, equals, value = line.partition(" = ")
            if equals and not line.startswith("#"):
                options.setdefault(name, []).append(_unquoted(value))
        return options

    @property
    def totals(self) -> dict[str, int]:
        """Sums over the run: events, slices, and hits by their fate."""
        return self._opened.totals

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the run's invocations, by name; empty for a merged file beside it, or if none ended normally."""
        counters = self._files.records(self.path, "counters", _Counter) if len(self.table("counters")) > 0 else []
        return {counter.name: counter.value for counter in counters}

    @property
    def sources(self) -> list[Source]:
        """The sources, indexed by the source numbers of hits."""
        return self._files.records(self.path, "sources", Source, _LACKING_IN_THE_FIRST_VERSION)

    @property
    def histograms(self) -> dict[str, Histogram]:
        """The histograms of `--hist`, by name; empty if the run has none, or has not ended."""
        if not self.complete:
            return {}
        with self._files.reading(self.path, "histograms") as file:
            return {name: histogram_in(file, name) for name in file.get("histograms", {})}

    @property
    def ledger(self) -> Array:
        """The columns of /ledger as a structured array: one row per slice with hits, losses or missing sources.

        >>> import eventloom
        >>> ledger = eventloom.open("sea.h5").ledger
        >>> int(ledger["hits_in"].sum() - ledger["hits_in_events"].sum() - ledger["hits_outside"].sum())
        0
        """
        files = [self.path] if self._opened.has_ledger else [part.path for part in self._opened.parts]
        # If no part is finished, the empty ledger of the run file provides the columns.
        ledger = np.concatenate([self._files.table(file, "ledger", _LISTS_OF_THE_LEDGER, needed=("slice",))
                                 for file in files or [self.path]])
        return ledger[np.argsort(ledger["slice"])]

    def table(self, name: str) -> Array:
        """Another table of the run file, as a structured array; empty if nothing was measured.

        >>> import eventloom
        >>> eventloom.open("sea.h5").table("builders")["builder"]
        array([0], dtype=uint32)
        """
        if name not in _TABLES:
            raise ValueError(f"no table '{name}'; there are {', '.join(_TABLES)}")
        return self._files.table(self.path, name, (TEXT_OF_THE_MAP,))


def _unquoted(value: str) -> str:
    """A value of the setup, which stands in quotes where it has a '#' or a line break."""
    if not re.fullmatch(r'"(?:[^"\\]|\\.)*"', value, re.DOTALL):
        return value
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value[1:-1], flags=re.DOTALL)
