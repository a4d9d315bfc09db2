"""Checks checksums of a file's contents, which do not depend on how HDF5 stores them: see io/hdf5/seal.hpp."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Mapping, Optional

import h5py
import numpy as np
from numpy.typing import NDArray

_VALUES, _DATASETS, _ATTRIBUTES = "crc32", "datasets", "attributes_crc32"
_SHORT = 4 << 20  # bytes; columns up to this size are checked as a whole when any row is read
_Sum = tuple[int, int, int]  # checksum as written, rows read so far, their checksum


def expect_sealed(file: h5py.File, datasets: Mapping[str, h5py.Dataset]) -> None:
    """Raises ValueError if an attribute of the root or a dataset was changed. Older files have no checksums."""
    if _ATTRIBUTES in file.attrs:
        _expect_attributes(file.attrs, np.asarray(file.attrs[_ATTRIBUTES]).reshape(-1, 2).tolist())
    for line in _datasets(file):
        path, written = line.split(" ", 1)
        _expect_dataset(datasets.get(path), path, written)


def expect_listed(file: h5py.File, listed: int) -> None:
    """Raises ValueError unless the checksum of the file's list of datasets equals `listed`, that in its run."""
    if zlib.crc32("".join(line + "\n" for line in _datasets(file)).encode()) != listed:
        raise ValueError("its datasets are not those that were written")


class ValueSums:
    """Checks the values of columns while they are read: short columns at once, others when all of their rows have been
    read in order, in pieces of any size."""

    def __init__(self) -> None:
        self._read: dict[str, dict[str, Optional[_Sum]]] = {}  # by file and name; None: no further checks

    def forget(self, path: Path) -> None:
        """Restarts the checks of a file that has changed."""
        self._read.pop(str(path), None)

    def add(self, data: h5py.Dataset, begin: int, rows: NDArray[Any]) -> None:
        """Takes rows from `begin` on. Raises ValueError when the values differ from those written."""
        columns = self._read.setdefault(data.file.filename, {})
        if data.name not in columns:
            columns[data.name] = self._begin(data, rows)
        state = columns[data.name]
        if state is None:
            return
        sealed, read, total = state if begin > 0 else (state[0], 0, 0)
        if begin <= read <= begin + len(rows):
            total, read = zlib.crc32(rows[read - begin:].data, total), begin + len(rows)
        if read == len(data):
            _expect_values(sealed, total)
        columns[data.name] = None if read == len(data) else (sealed, read, total)

    @staticmethod
    def _begin(data: h5py.Dataset, rows: NDArray[Any]) -> Optional[_Sum]:
        if _VALUES not in data.attrs:
            return None
        sealed = int(data.attrs[_VALUES])
        if data.nbytes > _SHORT:
            return sealed, 0, 0
        _expect_values(sealed, zlib.crc32((rows if len(rows) == len(data) else data[:]).data))
        return None


def _datasets(file: h5py.File) -> list[str]:
    return [str(line) for line in file.attrs.get(_DATASETS, ())]


def _expect_values(sealed: int, found: int) -> None:
    if sealed != found:
        raise ValueError(f"its values have the checksum {found:08x}, those written had {sealed:08x}")


def _expect_attributes(attributes: h5py.AttributeManager, sealed: list[list[int]]) -> None:
    names = {zlib.crc32(name.encode()): name for name in attributes}
    for name, contents in sealed:
        if name not in names:
            raise ValueError("an attribute that was written is no longer there")
        if zlib.crc32(_contents(attributes[names[name]])) != contents:
            raise ValueError(f"the attribute '{names[name]}' is not the one that was written")


def _contents(value: Any) -> bytes:
    """The checksummed bytes: texts with a terminating zero each, numbers as 64 bits."""
    several = np.atleast_1d(np.asarray(value, dtype=object if isinstance(value, str) else None))
    if several.dtype.kind in "ui":
        numbers: bytes = several.astype("<u8").tobytes()
        return numbers
    return b"".join((text.encode() if isinstance(text, str) else bytes(text)) + b"\0" for text in several.tolist())


def _expect_dataset(data: Optional[h5py.Dataset], path: str, written: str) -> None:
    if data is None:
        raise ValueError(f"{path} is missing")
    sealed = data.attrs.get(_VALUES)
    if sealed is None:
        raise ValueError(f"{path} was rewritten by another program")
    found = f"{data.size or 0} {int(sealed):08x}"
    if found != written:
        raise ValueError(f"rows and checksum of {path} are {found}, {written} was written")
