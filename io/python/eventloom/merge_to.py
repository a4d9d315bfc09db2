"""Writes the events of a run for `eventloom merge --to`: python3 -m eventloom.merge_to (ttree | rntuple | parquet) RUN FILE [names].

FILE exists and is overwritten in place: the caller gives it its final name. Errors are one line and exit code 2.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from pathlib import Path
from typing import Sequence

from . import EventloomError
from . import open as open_run

_PR_SET_PDEATHSIG = 1  # of prctl(2)


def main(words: Sequence[str]) -> int:
    kind, run_file, file, *options = words
    try:
        with open_run(run_file) as run:
            names = "names" in options
            write = run._parquet_writer(names) if kind == "parquet" else run._root_writer(kind, names)
            write(Path(file))
    except (EventloomError, OSError, ValueError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    return 0


def _end_with_the_caller() -> None:
    """Otherwise a killed `eventloom merge` would leave a process that writes to a file without a name."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    _end_with_the_caller()
    sys.exit(main(sys.argv[1:]))
