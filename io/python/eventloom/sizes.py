"""Refuses datasets that declare more rows than their file can hold, as declaring rows costs no space."""

from __future__ import annotations

from typing import Mapping

import h5py

_MOST_COMPRESSED = 1032  # most bytes that one byte of deflate data expands to: RFC 1951 encodes 258 bytes in two bits
_FILTERS = {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


def expect_all_stored(datasets: Mapping[str, h5py.Dataset], file_bytes: int) -> None:
    """Raises ValueError if a dataset of a run, part or merged file declares more rows than `file_bytes` can hold."""
    for path, data in datasets.items():
        try:
            _expect_stored(data, file_bytes)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _expect_stored(data: h5py.Dataset, file_bytes: int) -> None:
    creation = data.id.get_create_plist()
    if creation.get_layout() not in (h5py.h5d.CHUNKED, h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT) or creation.get_external_count() > 0:
        raise ValueError("its rows are in another file")
    filters = {creation.get_filter(number)[0] for number in range(creation.get_nfilters())}
    if not filters <= _FILTERS:
        raise ValueError(f"it is stored with the filters {sorted(filters)}, which Eventloom does not use")
    stored, declared = data.id.get_storage_size(), (data.size or 0) * data.dtype.itemsize
    most = stored * (_MOST_COMPRESSED if h5py.h5z.FILTER_DEFLATE in filters else 1)
    in_chunk = _chunk_bytes(data) if stored > 0 else 0
    if stored > file_bytes or max(declared, in_chunk) > most:
        raise ValueError(f"it declares {data.size} rows, which cannot be in the {stored} bytes that it has in the file")


def _chunk_bytes(data: h5py.Dataset) -> int:
    total = int(data.dtype.itemsize)
    for rows in data.chunks or (0,):
        total *= int(rows)
    return total
