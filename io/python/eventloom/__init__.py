"""Reads the events that Eventloom builds, and writes `.epochs` files from which it builds events."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Union

from .epochs import EpochsWriter, write_epochs
from .errors import DamagedFile, EventloomError
from .filtering import EventBatch, filter
from .histograms import Histogram
from .opening import open_run_files
from .run import Run, Source
from .selection import Event, Hits, Selection

__all__ = ["DamagedFile", "EpochsWriter", "Event", "EventBatch", "EventloomError", "Histogram", "Hits", "Run", "Selection",
           "Source", "filter", "open", "write_epochs"]


def open(path: Union[str, "os.PathLike[str]"]) -> Run:
    """Opens a run: its run.h5 with the parts beside it, its folder, or its merged file.

    For a run that is still running or was stopped, only finished parts are available, and `complete` is False. Raises
    FileNotFoundError, or ValueError for files that are not a run, or DamagedFile; the latter also when data are read.

    >>> import eventloom
    >>> run = eventloom.open("sea.h5")
    >>> len(run), run.totals["hits_in"]
    (728, 147463)
    >>> run[3].duration, run[3].hits.channel, run[3].hits.source
    (17, array([12, 25, 10,  2], dtype=uint32), array([38, 38, 66, 66], dtype=uint16))
    """
    return Run(open_run_files(Path(path)))
