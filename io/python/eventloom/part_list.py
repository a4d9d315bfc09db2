"""Reads the lists of finished parts that the writers keep until the run has ended: see io/run_format/part_list.hpp."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from .crc32c import crc32c
from .errors import DamagedFile
from .listed_part import LACKING_IN_EARLIER_LISTS, ListedPart
from .structure import expect_value, records_of

_HEADER = b"eventloom-part-list 1\n"


@dataclass(frozen=True)
class FinishedPart:
    """A part and its totals."""

    part: ListedPart
    totals: dict[str, Any]


def finished_parts(run_file: Path) -> list[FinishedPart]:
    """The parts that are finished and have their final names, in no particular order."""
    lists = sorted(run_file.parent.glob(f"{_escaped(run_file.stem)}.part-*.list"))
    entries = [_finished(path, entry) for path in lists for entry in _entries(path)]
    return [entry for entry in entries if (run_file.parent / entry.part.name).exists()]


def _finished(path: Path, entry: dict[str, Any]) -> FinishedPart:
    try:
        part, = records_of(ListedPart, [LACKING_IN_EARLIER_LISTS | expect_value(entry, "part", dict)])
        return FinishedPart(part, expect_value(entry, "totals", dict))
    except ValueError as error:
        raise DamagedFile(f"'{path}' is damaged: {error}") from None


def _escaped(stem: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in stem)


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a list. A damaged last line was still being written, and is ignored."""
    data = path.read_bytes()
    if not data.startswith(_HEADER):
        if len(data) < len(_HEADER):
            return
        raise DamagedFile(f"'{path}' is damaged: it does not begin with '{_HEADER.decode().strip()}'")
    lines = data[len(_HEADER):].split(b"\n")
    before = 0
    for number, line in enumerate(lines[:-1]):
        checksum, _, text = line.partition(b" ")
        before = crc32c(before.to_bytes(4, "little") + text)
        if checksum != b"%08x" % before:
            if number == len(lines) - 2 and not lines[-1]:
                return
            raise DamagedFile(f"'{path}' is damaged: line {number + 2} does not have the checksum {before:08x}")
        yield json.loads(text)
