"""A part as its run lists it, and a check that a file is that part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import h5py

from .errors import DamagedFile
from .seals import expect_listed
from .structure import attribute_of, column_of

PART_FORMAT = "eventloom-part"
LACKING_IN_EARLIER_LISTS = {"datasets_crc32": -1}


@dataclass(frozen=True)
class ListedPart:
    """A row of /parts, or an equivalent entry in a writer's list."""

    name: str
    writer: int
    segment: int
    first_slice: int
    last_slice: int
    slices: int
    events: int
    hits: int
    datasets_crc32: int  # -1: an earlier version wrote the part or the list


def expect_as_listed(file: h5py.File, listed: ListedPart) -> None:
    """Raises DamagedFile for another part, or one of another run, and ValueError if the part lacks an item."""
    run = PurePath(attribute_of(file, "run_file", str)).stem
    name = f"{run}.part-{attribute_of(file, 'writer', int):04}-{attribute_of(file, 'segment', int):04}.h5"
    if attribute_of(file, "format", str) != PART_FORMAT or name != listed.name:
        raise DamagedFile(f"'{file.filename}' is not as its run lists it: it was written as '{name}'")
    if listed.datasets_crc32 >= 0:
        expect_listed(file, listed.datasets_crc32)
    ledger = column_of(file, "ledger/slice")
    found = (len(ledger), int(ledger[0]), int(ledger[-1])) if len(ledger) > 0 else (0, 0, 0)
    if found != (listed.slices, listed.first_slice, listed.last_slice):
        raise DamagedFile(f"'{file.filename}' is not as its run lists it: it has {found[0]} slices from {found[1]} to "
                          f"{found[2]}, not {listed.slices} from {listed.first_slice} to {listed.last_slice}")
