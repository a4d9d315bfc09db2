"""Finds the file of a run and its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import h5py

from .errors import DamagedFile
from .listed_part import LACKING_IN_EARLIER_LISTS, PART_FORMAT, ListedPart
from .output_files import OutputFiles, Part
from .part_list import finished_parts
from .structure import expect_value

_RUN, _MERGED, _INDEX = "eventloom-run", "eventloom-merged", "eventloom-run-index"
_VERSION = 1
_LAST_TICK = (1 << 64) - 1
_PART_NAME = re.compile(r"[^/]*\.part-\d{4,}-\d{4,}\.h5")
# Attributes read here or in run.py, by file format.
_OF_ANY_RUN = {"closed": int, "with_payload": int, "tick_ps": int, "epoch_ticks": int, "epochs_per_slice": int, "setup": str}
_ATTRIBUTES: dict[str, dict[str, type]] = {_RUN: _OF_ANY_RUN, _MERGED: _OF_ANY_RUN, _INDEX: {"files": list},
                                           PART_FORMAT: {"run_file": str}}
_TOTALS = re.compile(r"anomalies|(events|slices|hits)(_\w+)?")
# Two totals have different names in the lists of parts.
_NAMES_IN_LISTS = {"slices_incomplete": "incomplete_slices", "slices_unbalanced": "unbalanced_slices"}


@dataclass
class OpenedRun:
    """The contents of a run that are known before any event is read."""

    path: Path
    files: OutputFiles
    attributes: dict[str, Any]
    parts: list[Part]
    totals: dict[str, int]
    has_ledger: bool  # the ledger is in the run file, else in its parts


def open_run_files(path: Path) -> OpenedRun:
    run_file = _run_file_in(path) if path.is_dir() else path
    if not run_file.exists():
        raise FileNotFoundError(f"'{run_file}' does not exist")
    if not h5py.is_hdf5(run_file):
        raise ValueError(f"'{run_file}' is not an HDF5 file; give the run.h5 of a run, its folder or its merged file")
    files = OutputFiles()
    try:
        return _opened(files, run_file)
    except BaseException:
        files.close()
        raise


def _opened(files: OutputFiles, path: Path) -> OpenedRun:
    attributes = files.attributes(path)
    kind = str(attributes.get("format"))
    _expect_version(path, kind, attributes)
    with files.reading(path):
        for name, of in _ATTRIBUTES[kind].items():
            expect_value(attributes, name, of)
    _expect_run(path, kind, attributes)
    with files.reading(path):
        totals = {name: expect_value(attributes, name, int) for name in attributes if _TOTALS.fullmatch(name)}
    if kind == _MERGED:
        return OpenedRun(path, files, attributes, [_merged_part(files, path)], totals, True)
    finished = [] if attributes["closed"] else finished_parts(path)
    listed = [entry.part for entry in finished]
    if attributes["closed"]:
        listed = files.records(path, "parts", ListedPart, LACKING_IN_EARLIER_LISTS)
    parts = _parts(path, listed, attributes["epochs_per_slice"] * attributes["epoch_ticks"])
    files.expect({path.parent / entry.name: entry for entry in sorted(listed, key=lambda entry: entry.first_slice)})
    if not attributes["closed"]:
        totals = {name: sum(_total(entry.totals, name) for entry in finished) for name in totals}
    return OpenedRun(path, files, attributes, parts, totals, bool(attributes["closed"]))


def _expect_version(path: Path, kind: str, attributes: dict[str, Any]) -> None:
    if kind not in _ATTRIBUTES:
        raise ValueError(f"'{path}' is an HDF5 file, but not one that Eventloom wrote")
    if attributes.get("format_version") != _VERSION:
        raise ValueError(f"'{path}' has format version {attributes.get('format_version')}, "
                         f"this package reads version {_VERSION}")


def _expect_run(path: Path, kind: str, attributes: dict[str, Any]) -> None:
    if kind == PART_FORMAT:
        raise ValueError(f"'{path}' is one part of a run; give '{attributes['run_file']}' beside it")
    if kind == _INDEX:
        names = " or ".join(f"'{name}'" for name in attributes["files"])
        raise ValueError(f"'{path}' is the index of a run with several definitions of events: give {names} beside it")


def _run_file_in(folder: Path) -> Path:
    """The only run file in a folder; in a folder without, the only merged file, which `run --merge` leaves in its place."""
    formats = {path: _format_of(path) for path in sorted(folder.glob("*.h5"))
               if not _PART_NAME.fullmatch(path.name) and h5py.is_hdf5(path)}
    found = [path for path in formats if formats[path] == _RUN] or [path for path in formats if formats[path] == _MERGED]
    if len(found) == 1:
        return found[0]
    if not found:
        raise FileNotFoundError(f"no run file, as run.h5, in the folder '{folder}'")
    names = ", ".join(f"'{path.name}'" for path in found)
    raise ValueError(f"several runs in the folder '{folder}': give one of {names}")


def _format_of(path: Path) -> Any:
    files = OutputFiles()
    try:
        return files.attributes(path).get("format")
    finally:
        files.close()


def _merged_part(files: OutputFiles, path: Path) -> Part:
    return Part(path, files.length(path, "events/time"), files.length(path, "hits/time"), 0, _LAST_TICK)


def _parts(run_file: Path, listed: Sequence[ListedPart], slice_ticks: int) -> list[Part]:
    """The parts ordered by first slice, except empty ones, which have no slices."""
    wrong = next((entry.name for entry in listed if not _PART_NAME.fullmatch(entry.name)), None)
    if wrong is not None:
        raise DamagedFile(f"'{run_file}' is damaged: '{wrong}' is not the name of a part")
    parts = [Part(run_file.parent / entry.name, entry.events, entry.hits, entry.first_slice * slice_ticks,
                  min((entry.last_slice + 1) * slice_ticks - 1, _LAST_TICK)) for entry in listed if entry.slices > 0]
    missing = next((part.path for part in parts if not part.path.exists()), None)
    if missing is not None:
        raise FileNotFoundError(f"'{missing}' does not exist: keep the parts of a run beside '{run_file.name}', or send the "
                                "one file that 'eventloom merge' makes of them")
    return sorted(parts, key=lambda part: part.begin)


def _total(totals: dict[str, Any], name: str) -> int:
    """A total of one part, from its list."""
    if name.startswith("hits_dropped_"):
        return int(totals["hits_dropped"][name[len("hits_dropped_"):]])
    return int(totals[_NAMES_IN_LISTS.get(name, name)])
