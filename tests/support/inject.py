"""Runs the program with a call of one rank made to fail: what the words mean stands in inject.cpp."""

import re
import subprocess
import time
from pathlib import Path

from program import BINARY, environment

LIBRARY = Path(BINARY).resolve().parent / "libinject.so"


def environment_of(log, omp=None, **order):
    """The environment in which a call fails as `order` says."""
    Path(log).unlink(missing_ok=True)
    env = environment(omp) | {"LD_PRELOAD": str(LIBRARY), "EVENTLOOM_INJECT_LOG": str(log)}
    return env | ({"EVENTLOOM_INJECT": " ".join(f"{key}={value}" for key, value in order.items())} if order else {})


class Injected:
    """A command that has ended with a failure injected, and the log of the calls that were made."""

    def __init__(self, arguments, folder, *, np=None, omp=None, timeout=40, cwd=None, **order):
        log = Path(folder) / "inject.log"
        env = environment_of(log, omp, **order)
        launcher = [] if np is None else ["mpirun", "--oversubscribe", "-np", str(np)]
        begin = time.monotonic()
        command = ["timeout", "-k", "5", str(timeout), *launcher, BINARY, *map(str, arguments)]
        self.done = subprocess.run(command, env=env, cwd=cwd, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                   capture_output=True)
        self.seconds = time.monotonic() - begin
        self.code = self.done.returncode
        told = f"{order}: exit code {self.code}\n{self.done.stdout[-2000:]}\n{self.done.stderr[-4000:]}"
        assert self.seconds < timeout, f"no end after {timeout} s; {told}"
        lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        self.failures = [(int(words[0]), words[2], words[3]) for words in lines if words[1] == "fails"]
        #: (rank, call, site) of every place of the program that makes a call that can be made to fail
        self.sites = [(int(words[0]), words[1], words[2]) for words in lines if words[1] != "fails"]

    @property
    def happened(self):
        return bool(self.failures)

    def names(self, rank):
        """Whether the messages say which rank it was."""
        return re.search(rf"\brank {rank}\b", self.done.stderr) is not None
