"""Checksums of what a file says, whatever the way in which HDF5 stores it: see io/hdf5/seal.hpp."""

from __future__ import annotations

import zlib
from typing import Any, Optional

import h5py
import numpy as np
from numpy.typing import NDArray

_VALUES, _DATASETS, _ATTRIBUTES = "crc32", "datasets", "attributes_crc32"
_SHORT = 4 << 20  # bytes of a column that is checked whole when any of its rows is read


def expect_sealed(file: h5py.File, listed: Optional[int] = None) -> None:
    """An attribute of the root, or a dataset, that is not the one that was written is ValueError. `listed`: the sum of
    its list of datasets, as the run has it. Files of earlier versions have no sums."""
    if _ATTRIBUTES in file.attrs:
        _expect_attributes(file.attrs, np.asarray(file.attrs[_ATTRIBUTES]).reshape(-1, 2).tolist())
    lines = [str(line) for line in file.attrs.get(_DATASETS, ())]
    for line in lines:
        _expect_dataset(file, *line.split(" ", 1))
    if listed is not None and zlib.crc32("".join(line + "\n" for line in lines).encode()) != listed:
        raise ValueError("its datasets are not those that were written")


class ValueSums:
    """Checks the values of columns while they are read: short columns at once, others when all of their rows have been
    read in order, in whatever pieces."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], Optional[tuple[int, int, int]]] = {}  # what was written, rows, their sum

    def add(self, data: h5py.Dataset, begin: int, rows: NDArray[Any]) -> None:
        """Rows from `begin` on. ValueError when the values are not those that were written."""
        key = data.file.filename, data.name
        if key not in self._read:
            self._read[key] = self._begin(data, rows)
        state = self._read[key]
        if state is None:
            return
        sealed, read, total = state if begin > 0 else (state[0], 0, 0)
        if begin <= read <= begin + len(rows):
            total, read = zlib.crc32(rows[read - begin:].data, total), begin + len(rows)
        if read == len(data):
            _expect_values(sealed, total)
        self._read[key] = None if read == len(data) else (sealed, read, total)

    @staticmethod
    def _begin(data: h5py.Dataset, rows: NDArray[Any]) -> Optional[tuple[int, int, int]]:
        if _VALUES not in data.attrs:
            return None
        sealed = int(data.attrs[_VALUES])
        if data.nbytes > _SHORT:
            return sealed, 0, 0
        _expect_values(sealed, zlib.crc32((rows if len(rows) == len(data) else data[:]).data))
        return None


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
    """Texts with a zero each, numbers as 64 bits."""
    several = np.atleast_1d(np.asarray(value, dtype=object if isinstance(value, str) else None))
    if several.dtype.kind in "ui":
        numbers: bytes = several.astype("<u8").tobytes()
        return numbers
    return b"".join((text.encode() if isinstance(text, str) else bytes(text)) + b"\0" for text in several.tolist())


def _expect_dataset(file: h5py.File, path: str, written: str) -> None:
    data = file.get(path)
    if not isinstance(data, h5py.Dataset):
        raise ValueError(f"{path} is missing")
    if _VALUES not in data.attrs:
        raise ValueError(f"{path} was written anew by another program")
    found = f"{data.size or 0} {int(data.attrs[_VALUES]):08x}"
    if found != written:
        raise ValueError(f"rows and checksum of {path} are {found}, {written} was written")
