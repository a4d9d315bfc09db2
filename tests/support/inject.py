"""Runs the program with a call of one rank made to fail; inject.cpp explains the keywords."""

import bisect
import re
import subprocess
import tempfile
import time
from pathlib import Path

from interrupted import gone, until
from program import BINARY, environment
from torture import environment_in, shared_memory_of

LIBRARY = Path(BINARY).resolve().parent / "libinject.so"


def injecting(log, **order):
    """The environment variables that make a call fail as `order` says."""
    Path(log).unlink(missing_ok=True)
    env = {"LD_PRELOAD": str(LIBRARY), "EVENTLOOM_INJECT_LOG": str(log)}
    return env | ({"EVENTLOOM_INJECT": " ".join(f"{key}={value}" for key, value in order.items())} if order else {})


def failures_in(log):
    """[(rank, call, site)] of the calls made to fail so far."""
    lines = [line.split() for line in Path(log).read_text().splitlines()] if Path(log).exists() else []
    return [(int(words[0]), words[2], words[3]) for words in lines if len(words) == 4 and words[1] == "fails"]


class Injected:
    """A command that has ended, with a failure injected, and the log of its calls."""

    def __init__(self, arguments, folder, *, np=None, omp=None, timeout=40, cwd=None, **order):
        log = Path(folder) / "inject.log"
        launcher = [] if np is None else ["mpirun", "--oversubscribe", "-np", str(np)]
        command = ["timeout", "-k", "5", str(timeout), *launcher, BINARY, *map(str, arguments)]
        with tempfile.TemporaryDirectory(prefix="eventloom-", ignore_cleanup_errors=True) as sessions:
            env = environment(omp) | environment_in(sessions) | injecting(log, **order)
            begin = time.monotonic()
            self.done = subprocess.run(command, env=env, cwd=cwd, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                       capture_output=True)
            self.seconds = time.monotonic() - begin
        self.code = self.done.returncode
        reported = f"{order}: exit code {self.code}\n{self.done.stdout[-2000:]}\n{self.done.stderr[-4000:]}"
        assert self.seconds < timeout, f"no end after {timeout} s; {reported}"
        lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        self.failures = failures_in(log)
        #: (rank, call, site) of every place of the program with a call that can be made to fail
        self.sites = [(int(words[0]), words[1], words[2]) for words in lines if words[1] not in ("begins", "fails")]
        # Only up to Open MPI 4 are jobs numbers, which name their shared memory.
        began = [(int(words[2]), int(words[3]) if words[3].isdigit() else 0) for words in lines if words[1] == "begins"]
        assert_nothing_left({job for _, job in began if job}, {pid for pid, _ in began}, reported)

    @property
    def happened(self):
        return bool(self.failures)


def assert_nothing_left(jobs, pids, reported):
    """Waits until no process and no shared memory is left, for a moment after the end, which is longer on a busy machine."""
    until(lambda: all(map(gone, pids)), "all ranks gone", 30, lambda: reported)
    until(lambda: not shared_memory_of(jobs, pids), "no shared memory left", 30,
          lambda: f"{shared_memory_of(jobs, pids)} {reported}")


def crashed_in(text):
    """The function of the program in which a process crashed, by the backtrace in its output; empty if there is
    none."""
    frame = re.search(r"eventloom\(\+0x([0-9a-f]+)\)", text)
    if frame is None:
        return ""
    listed = subprocess.run(["nm", "-C", "--defined-only", BINARY], capture_output=True, text=True, check=True).stdout
    functions = sorted((int(address, 16), name) for address, kind, name in
                       (line.split(" ", 2) for line in listed.splitlines()) if kind in "tTwW")
    return functions[bisect.bisect(functions, (int(frame[1], 16), "~")) - 1][1]
