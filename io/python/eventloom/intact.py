"""Checks that the files of a run are intact and match its list, without reading values."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Mapping, Sequence

import h5py

from .apart import Ending, tried_apart
from .listed_part import ListedPart, expect_as_listed
from .seals import expect_sealed
from .sizes import expect_all_stored
from .structure import attributes_of, datasets_of

_FORMATS = "eventloom-"
_MOST_TOGETHER = 64  # files; their time limits add up
_Version = tuple[int, ...]  # differs after a file was replaced or changed


class IntactFiles:
    """Checks files in another process, as a damaged file may crash HDF5, and again only when they have changed."""

    def __init__(self) -> None:
        self._listed: dict[Path, ListedPart] = {}
        self._intact: dict[Path, _Version] = {}
        self._most_together = _MOST_TOGETHER

    def expect(self, listed: Mapping[Path, ListedPart]) -> None:
        """Registers the parts that files must match, in the order in which they are likely to be read."""
        self._listed.update(listed)

    def knows(self, path: Path) -> bool:
        """Whether the file was found intact and has not changed since."""
        return self._intact.get(path) == _version(path)

    def check(self, path: Path) -> None:
        """Raises ValueError, DamagedFile or an exception of h5py unless the file is intact."""
        together = self._together(path)
        if len(together) > 1:
            if self._tried(together).returned:
                return
            self._most_together = 1  # one is damaged: checked singly, the others are not checked again each time
        ending = self._tried([path])
        if ending.death:
            raise ValueError(ending.death)
        if not ending.returned:
            version = _version(path)
            self._expect_intact(path)  # raises the same exception here, unless no other process could be started
            self._intact[path] = version

    def _together(self, path: Path) -> Sequence[Path]:
        """The file and as many of the following parts as were checked before: one process per file would be slower."""
        rest = itertools.dropwhile(lambda other: other != path, self._listed)
        unknown = (other for other in rest if other == path or other not in self._intact and other.exists())
        return list(itertools.islice(unknown, min(len(self._intact), self._most_together))) or [path]

    def _tried(self, paths: Sequence[Path]) -> Ending:
        def check_all() -> None:
            for path in paths:
                self._expect_intact(path)

        versions = {path: _version(path) for path in paths}
        ending = tried_apart(check_all, sum(path.stat().st_size for path in paths))
        if ending.returned:
            self._intact.update(versions)
        return ending

    def _expect_intact(self, path: Path) -> None:
        with h5py.File(path, "r") as file:
            if str(attributes_of(file).get("format")).startswith(_FORMATS):
                datasets = datasets_of(file)
                expect_sealed(file, datasets)
                expect_all_stored(datasets, path.stat().st_size)
            if path in self._listed:
                expect_as_listed(file, self._listed[path])


def _version(path: Path) -> _Version:
    about = path.stat()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
