"""Reads the HDF5 files of a run. Unreadable data raise DamagedFile with one line that names the file."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence, Type, TypeVar, get_type_hints

import h5py
import numpy as np
from numpy.typing import NDArray

from .errors import DamagedFile
from .intact import IntactFiles
from .listed_part import ListedPart
from .seals import ValueSums
from .structure import attributes_of, column_of, records_of

Array = NDArray[Any]
T = TypeVar("T")

_MOST_OPEN = 32  # files; a long run has thousands of parts


@dataclass(frozen=True)
class Part:
    """A file with events in time order; their times are from `begin` to `last`, in ticks."""

    path: Path
    events: int
    hits: int
    begin: int
    last: int

    def rows_of(self, column: str) -> int:
        """The number of rows that a column of /events or /hits must have; columns of offsets have one more."""
        rows = self.events if column.startswith("events/") else self.hits
        return rows + ("/first_" in column)


class OutputFiles:
    """Opens files when they are read, and keeps the most recent ones open."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, h5py.File] = OrderedDict()
        self._intact = IntactFiles()
        self._sums = ValueSums()
        self._closed = False

    def expect(self, listed: Mapping[Path, ListedPart]) -> None:
        """Registers the parts that files must match, in time order. Each file is checked when it is opened."""
        self._intact.expect(listed)

    def close(self) -> None:
        self._closed = True
        while self._open:
            self._open.popitem()[1].close()

    @contextlib.contextmanager
    def reading(self, path: Path, dataset: str = "") -> Iterator[h5py.File]:
        """Provides the open file. `dataset`: the dataset to be read, for messages."""
        if self._closed:
            raise ValueError("the run is closed; open it again")
        try:
            yield self._file(path)
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:  # all exceptions of h5py
            what = _one_line(error)
            where = f"/{dataset}: " if dataset and f"/{dataset}" not in what else ""
            raise DamagedFile(f"'{path}' is damaged: {where}{what}") from None

    def length(self, path: Path, column: str) -> int:
        with self.reading(path, column) as file:
            return len(column_of(file, column))

    def rows(self, part: Part, column: str, begin: int, end: int) -> Array:
        """Rows of a column of /events or /hits."""
        with self.reading(part.path, column) as file:
            data, rows = column_of(file, column, "f" if column == "hits/value" else "u"), part.rows_of(column)
            if len(data) != rows:
                raise ValueError(f"it has {len(data)} rows, not {rows}")
            read = self._read(data, begin, end)
            if column == "events/time":
                _expect_in_order(read, part)
            return read

    def words(self, part: Part, begin: int, end: int) -> Array:
        """Words of /payload."""
        with self.reading(part.path, "payload") as file:
            data = column_of(file, "payload")
            if end > len(data):
                raise ValueError(f"it has {len(data)} words, not {end} or more")
            return self._read(data, begin, end)

    def table(self, path: Path, group: str, without: Sequence[str] = (), needed: Sequence[str] = ()) -> Array:
        """The columns of a group, which must include `needed`, as a structured array; empty without such a group."""
        with self.reading(path, group) as file:
            there = file.get(group, {})
            if not isinstance(there, (h5py.Group, dict)):
                raise ValueError("it is no group")
            names = sorted(name for name in there if name not in without)
            for name in needed:
                if name not in names:
                    raise ValueError(f"there is no column /{group}/{name}")
            data = [column_of(file, f"{group}/{name}", "uifS") for name in names]
            columns = [_texts(self._read(column, 0, len(column))) for column in data]
            if len({len(column) for column in columns}) > 1:
                raise ValueError("its columns differ in length")
        table = np.empty(len(columns[0]) if columns else 0, dtype=[(n, c.dtype) for n, c in zip(names, columns)])
        for name, column in zip(names, columns):
            table[name] = column
        return table

    def records(self, path: Path, group: str, kind: Type[T], lacking: Mapping[str, Any] = {}) -> list[T]:
        """A dataclass per row of a group, which must exist; `lacking`: values of columns that may be missing."""
        table = self.table(path, group, needed=[name for name in get_type_hints(kind) if name not in lacking])
        rows = [dict(zip(table.dtype.names or (), row)) for row in table.tolist()]
        with self.reading(path, group):
            return records_of(kind, ({**lacking, **row} for row in rows))

    def attributes(self, path: Path) -> dict[str, Any]:
        with self.reading(path) as file:
            return attributes_of(file)

    def _file(self, path: Path) -> h5py.File:
        if path not in self._open:
            if not path.exists():
                raise FileNotFoundError(f"'{path}' does not exist")
            self._open[path] = self._opened(path)
        self._open.move_to_end(path)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[path]

    def _opened(self, path: Path) -> h5py.File:
        if not self._intact.knows(path):
            self._sums.forget(path)
            self._intact.check(path)
        return h5py.File(path, "r")

    def _read(self, data: h5py.Dataset, begin: int, end: int) -> Array:
        rows: Array = data[begin:end]
        self._sums.add(data, begin, rows)
        return rows


def _expect_in_order(times: Array, part: Part) -> None:
    if len(times) == 0:
        return
    if bool(np.any(times[1:] < times[:-1])):
        raise ValueError("the events are not in the order of time")
    if int(times[0]) < part.begin or int(times[-1]) > part.last:
        raise ValueError(f"events from {times[0]} to {times[-1]} are not in its slices, from {part.begin} to {part.last}")


def _one_line(error: Exception) -> str:
    text = error.args[0] if isinstance(error, KeyError) else error  # str(KeyError) adds quotes
    return " ".join(str(text).split())


def _texts(column: Array) -> Array:
    return np.char.decode(column, "utf-8", "replace") if column.dtype.kind == "S" else column
