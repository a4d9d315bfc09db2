"""A file that receives its final name when it is complete and on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


class PartialFile:
    """`PATH.partial` until publish() renames it to `PATH`. Replaces only files that begin with `magic`, on request.

    `kind`: what such files are called, with an article.
    """

    def __init__(self, path: Path, magic: bytes, overwrite: bool, kind: str = "an .epochs file") -> None:
        self.path = path
        self._magic, self._overwrite, self._published, self._kind = magic, overwrite, False, kind
        self._partial = path.with_name(path.name + ".partial")
        self._refuse_existing()
        try:
            self._file: IO[bytes] = self._partial.open("xb")
        except FileExistsError:
            raise FileExistsError(f"'{self._partial}' is being written; if its writer was killed, remove it") from None

    @property
    def partial_path(self) -> Path:
        """The file to be written, for libraries that open it themselves."""
        return self._partial

    @property
    def is_published(self) -> bool:
        return self._published

    def expect_open(self) -> None:
        if self._published:
            raise ValueError(f"'{self.path}' is complete: write everything before close()")
        if self._file.closed:
            raise ValueError(f"'{self.path}' was abandoned after an error: write it again")

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def publish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._refuse_existing()
        os.replace(self._partial, self.path)
        self._published = True

    def discard(self) -> None:
        """Removes the file unless it was published."""
        if self._published:
            return
        try:
            self._file.close()
        finally:
            self._partial.unlink(missing_ok=True)

    def _refuse_existing(self) -> None:
        if not os.path.lexists(self.path):
            return
        if not self._overwrite:
            raise FileExistsError(f"'{self.path}' exists; give another name, or overwrite=True")
        if not self.path.is_file() or self.path.is_symlink() or not self._is_ours():
            raise FileExistsError(f"'{self.path}' exists and is not {self._kind}; give another name")

    def _is_ours(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(self._magic)) == self._magic
