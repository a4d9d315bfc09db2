"""Runs work that may crash HDF5 in another process: https://docs.hdfgroup.org makes no guarantee for damaged files."""

from __future__ import annotations

import os
import resource
import signal
import warnings
from typing import Callable, NamedTuple, Optional

from h5py._objects import phil

_PROCESSOR_SECONDS = 10
_BYTES_PER_SECOND = 100_000_000
_MEMORY = 1 << 30
_NO_MEMORY, _RAISED = 12, 1  # exit codes
_DEATHS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGXCPU)


class Ending(NamedTuple):
    """How work ended in another process: it returned, it died, or, if neither, it raised an exception."""

    returned: bool
    death: Optional[str] = None  # why the work must not be done in this process


def tried_apart(work: Callable[[], object], file_bytes: int) -> Ending:
    """Runs `work`, on files of `file_bytes`, in another process with limited time and memory."""
    mapped = _mapped_bytes()
    try:
        with phil, warnings.catch_warnings():  # no other thread is in HDF5; Python 3.12 warns about any thread
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
            if child == 0:
                _work_and_leave(work, mapped, _PROCESSOR_SECONDS + file_bytes // _BYTES_PER_SECOND)
    except OSError:
        return Ending(False)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        no_memory = os.WEXITSTATUS(status) == _NO_MEMORY
        return Ending(os.WEXITSTATUS(status) == 0, "HDF5 would need more memory than there can be in it" if no_memory else None)
    number = os.WTERMSIG(status)
    return Ending(False, "HDF5 does not terminate on it" if number == signal.SIGXCPU else
                  f"HDF5 crashes on it ({signal.strsignal(number)})")


def _work_and_leave(work: Callable[[], object], mapped: int, seconds: int) -> None:
    code = 0
    try:
        for death in _DEATHS:
            signal.signal(death, signal.SIG_DFL)
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_CPU, seconds)
        _limit(resource.RLIMIT_AS, mapped + _MEMORY)
        work()
    except MemoryError:
        code = _NO_MEMORY
    except BaseException:  # the caller repeats the work and gets the same exception
        code = _RAISED
    finally:
        os._exit(code)


def _limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _mapped_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()
