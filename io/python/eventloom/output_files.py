"""The HDF5 files of a run. What cannot be read of them is reported as DamagedFile, in one line that names the file."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Sequence

import h5py
import numpy as np
from numpy.typing import NDArray

from .errors import DamagedFile

Array = NDArray[Any]

_MOST_OPEN = 32  # files: a long run has thousands of parts


@dataclass(frozen=True)
class Part:
    """A file with events in the order of time: their times are from `begin` to `last`, in ticks."""

    path: Path
    events: int
    hits: int
    begin: int
    last: int

    def rows_of(self, column: str) -> int:
        """How many rows a column of /events or /hits has to have; offsets are one more."""
        rows = self.events if column.startswith("events/") else self.hits
        return rows + ("/first_" in column)


class OutputFiles:
    """Opens files when they are read, and keeps the latest ones open."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, h5py.File] = OrderedDict()
        self._closed = False

    def close(self) -> None:
        self._closed = True
        while self._open:
            self._open.popitem()[1].close()

    @contextlib.contextmanager
    def reading(self, path: Path, dataset: str = "") -> Iterator[h5py.File]:
        """The open file. `dataset`: what is read of it."""
        try:
            yield self._file(path)
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, KeyError, RuntimeError) as error:
            where = f"/{dataset}: " if dataset else ""
            raise DamagedFile(f"'{path}' is damaged: {where}{_one_line(error)}") from None

    def rows(self, part: Part, column: str, begin: int, end: int) -> Array:
        """Some rows of a column of /events or /hits."""
        with self.reading(part.path, column) as file:
            data, rows = file[column], part.rows_of(column)
            if len(data) != rows:
                raise DamagedFile(f"'{part.path}' is damaged: /{column} has {len(data)} rows, not {rows}")
            return _read(data, begin, end)

    def words(self, part: Part, begin: int, end: int) -> Array:
        """Some words of /payload."""
        with self.reading(part.path, "payload") as file:
            data = file["payload"]
            if end > len(data):
                raise DamagedFile(f"'{part.path}' is damaged: /payload has {len(data)} words, not {end} or more")
            return _read(data, begin, end)

    def table(self, path: Path, group: str, without: Sequence[str] = ()) -> Array:
        """The columns of a group as one structured array; empty where there is no such group."""
        with self.reading(path, group) as file:
            names = sorted(name for name in file.get(group, ()) if name not in without)
            columns = [_texts(file[group][name][:]) for name in names]
        if len({len(column) for column in columns}) > 1:
            raise DamagedFile(f"'{path}' is damaged: columns of /{group} differ in length")
        table = np.empty(len(columns[0]) if columns else 0, dtype=[(n, c.dtype) for n, c in zip(names, columns)])
        for name, column in zip(names, columns):
            table[name] = column
        return table

    def records(self, path: Path, group: str) -> list[dict[str, Any]]:
        """Likewise, row by row."""
        table = self.table(path, group)
        return [dict(zip(table.dtype.names or (), row)) for row in table.tolist()]

    def attributes(self, path: Path) -> dict[str, Any]:
        """Of the root: texts as str, numbers as int, several of them as a list."""
        with self.reading(path) as file:
            return {name: _plain(value) for name, value in file.attrs.items()}

    def _file(self, path: Path) -> h5py.File:
        if self._closed:
            raise ValueError("the run is closed; open it again")
        if path not in self._open:
            if not path.exists():
                raise FileNotFoundError(f"'{path}' does not exist")
            self._open[path] = h5py.File(path, "r")
        self._open.move_to_end(path)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[path]


def _read(data: h5py.Dataset, begin: int, end: int) -> Array:
    rows: Array = data[begin:end]
    return rows


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).strip("'\"")


def _texts(column: Array) -> Array:
    return np.char.decode(column, "utf-8", "replace") if column.dtype.kind == "S" else column


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value
