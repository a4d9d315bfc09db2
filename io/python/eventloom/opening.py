"""Finds the file of a run and its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import h5py

from .errors import DamagedFile
from .output_files import OutputFiles, Part
from .part_list import finished_parts

_RUN, _MERGED, _INDEX, _PART = "eventloom-run", "eventloom-merged", "eventloom-run-index", "eventloom-part"
_VERSION = 1
_LAST_TICK = (1 << 64) - 1
_PART_NAME = re.compile(r"[^/]*\.part-\d{4,}-\d{4,}\.h5")
_TOTALS = re.compile(r"anomalies|(events|slices|hits)(_\w+)?")
# Two totals have another name in the lists of parts.
_NAMES_IN_LISTS = {"slices_incomplete": "incomplete_slices", "slices_unbalanced": "unbalanced_slices"}


@dataclass
class OpenedRun:
    """What is known of a run before any of its events is read."""

    path: Path
    files: OutputFiles
    attributes: dict[str, Any]
    parts: list[Part]
    totals: dict[str, int]
    has_ledger: bool  # in the file of the run; else in its parts


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
    kind = attributes.get("format")
    _expect_run(path, kind, attributes)
    totals = {name: value for name, value in attributes.items() if _TOTALS.fullmatch(name)}
    if kind == _MERGED:
        return OpenedRun(path, files, attributes, [_merged_part(files, path)], totals, True)
    slice_ticks = attributes["epochs_per_slice"] * attributes["epoch_ticks"]
    if attributes["closed"]:
        return OpenedRun(path, files, attributes, _parts(path, files.records(path, "parts"), slice_ticks), totals, True)
    finished = finished_parts(path)
    parts = _parts(path, [entry["part"] for entry in finished], slice_ticks)
    sums = {name: sum(_total(entry["totals"], name) for entry in finished) for name in totals}
    return OpenedRun(path, files, attributes, parts, sums, False)


def _expect_run(path: Path, kind: Any, attributes: dict[str, Any]) -> None:
    if kind == _PART:
        raise ValueError(f"'{path}' is one part of a run; give '{attributes['run_file']}' beside it")
    if kind == _INDEX:
        names = " or ".join(f"'{name}'" for name in attributes["files"])
        raise ValueError(f"'{path}' is the index of a run with several definitions of events: give {names} beside it")
    if kind not in (_RUN, _MERGED):
        raise ValueError(f"'{path}' is an HDF5 file, but not one that Eventloom wrote")
    if attributes.get("format_version") != _VERSION:
        raise ValueError(f"'{path}' has format version {attributes.get('format_version')}, "
                         f"this package reads version {_VERSION}")


def _run_file_in(folder: Path) -> Path:
    """The one run file in a folder."""
    found = [path for path in sorted(folder.glob("*.h5"))
             if not _PART_NAME.fullmatch(path.name) and h5py.is_hdf5(path) and _format_of(path) == _RUN]
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
    with files.reading(path) as file:
        return Part(path, len(file["events/time"]), len(file["hits/time"]), 0, _LAST_TICK)


def _parts(run_file: Path, listed: Sequence[dict[str, Any]], slice_ticks: int) -> list[Part]:
    """In the order of their first slices. Those without slices hold nothing."""
    parts = []
    for entry in listed:
        if not _PART_NAME.fullmatch(entry["name"]):
            raise DamagedFile(f"'{run_file}' is damaged: '{entry['name']}' is not the name of a part")
        if entry["slices"] > 0:
            parts.append(Part(run_file.parent / entry["name"], entry["events"], entry["hits"],
                              entry["first_slice"] * slice_ticks,
                              min((entry["last_slice"] + 1) * slice_ticks - 1, _LAST_TICK)))
    missing = next((part.path for part in parts if not part.path.exists()), None)
    if missing is not None:
        raise FileNotFoundError(f"'{missing}' does not exist: keep the parts of a run beside '{run_file.name}'")
    return sorted(parts, key=lambda part: part.begin)


def _total(totals: dict[str, Any], name: str) -> int:
    """A total of one part, as its list has it."""
    if name.startswith("hits_dropped_"):
        return int(totals["hits_dropped"][name[len("hits_dropped_"):]])
    return int(totals[_NAMES_IN_LISTS.get(name, name)])
