"""Whether the files of a run are intact and the ones that it lists, as far as can be told without reading values."""

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
_MOST_TOGETHER = 64  # files: their time limits add up
_Version = tuple[int, ...]  # another one after a file was replaced or changed


class IntactFiles:
    """Checks files in another process, where a damaged one may crash HDF5, and again only when they have changed."""

    def __init__(self) -> None:
        self._listed: dict[Path, ListedPart] = {}
        self._intact: dict[Path, _Version] = {}
        self._most_together = _MOST_TOGETHER

    def expect(self, listed: Mapping[Path, ListedPart]) -> None:
        """These files have to be these parts. They are in the order in which they are likely to be read."""
        self._listed.update(listed)

    def knows(self, path: Path) -> bool:
        """Whether the file was found intact as it is now."""
        return self._intact.get(path) == _version(path)

    def check(self, path: Path) -> None:
        """Raises ValueError, DamagedFile or what h5py raises unless the file is intact."""
        together = self._together(path)
        if len(together) > 1:
            if self._tried(together).returned:
                return
            self._most_together = 1  # one of them is damaged: so that the others are not tried again with each
        ending = self._tried([path])
        if ending.death:
            raise ValueError(ending.death)
        if not ending.returned:
            version = _version(path)
            self._expect_intact(path)  # raises here what it raised there, unless there was no other process
            self._intact[path] = version

    def _together(self, path: Path) -> Sequence[Path]:
        """The file, and as many of the following parts as were checked before: a process for each would take longer."""
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
