"""Runs that are interrupted: started, watched, signalled, resumed."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

from program import BINARY, environment

STOPPED = 75
# Attributes with checksums of what is compared anyway, or of the setup.
SEALS = ("attributes_crc32", "crc32", "datasets", "texts_crc32c")


def until(condition, what, timeout=60, so_far=str):
    """Returns the result of `condition` once it is true; fails after `timeout` seconds with the text of `so_far`."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {timeout} s: {what}\n{so_far()}"
        time.sleep(0.002)
    return found


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def state_of(pid):
    """R, S, T (stopped), Z (dead, not waited for), ... as reported by the kernel; X when there is no such process."""
    return (_read(pid, "stat").rpartition(")")[2].split() or ["X"])[0]


def gone(pid):
    return state_of(pid) in "XZ"


def waited_for_a_core(pid):
    """Seconds in which the process's first thread was ready but did not run."""
    words = _read(pid, f"task/{pid}/schedstat").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


class Started:
    """A running `eventloom` in `folder`, under mpirun if `np` is given. The `with` ends it if it still runs."""

    def __init__(self, folder, *arguments, np=None, env=None, launcher=()):
        folder.mkdir(parents=True, exist_ok=True)
        # Not in the folder, which may be on a full disk.
        self.logs = tempfile.TemporaryDirectory(prefix="eventloom-test-")
        self.np, self.folder = np, folder
        self.errors, self.output = (Path(self.logs.name) / name for name in ("stderr", "stdout"))
        command = [*launcher, BINARY, *map(str, arguments)]
        if np is not None:
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(np), *command]
        with self.errors.open("w") as errors, self.output.open("w") as output:
            self.process = subprocess.Popen(command, cwd=folder, env=environment() | (env or {}), stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=errors, start_new_session=True)
        self.known = {}

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            print(self.text(), *(f"rank {rank}: state {state_of(pid)}" for rank, pid in self.known.items()), sep="\n")
        for pid in self.known.values():
            if not gone(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self.logs.cleanup()

    def ranks(self):
        """{rank: process id}, once all of them run and handle signals."""
        self.known = until(self._find, f"{self.np} ranks that handle signals", so_far=self.text)
        return self.known

    def _find(self):
        assert self.process.poll() is None, self.text()
        if self.np is None:
            found = {0: self.process.pid}
        else:
            children = _read(self.process.pid, f"task/{self.process.pid}/children").split()
            ranks = {pid: _read(pid, "environ").split("\0OMPI_COMM_WORLD_RANK=") for pid in children}
            found = {int(env[1].split("\0")[0]): int(pid) for pid, env in ranks.items() if len(env) == 2}
        ready = [_handles(pid, signal.SIGUSR1) for pid in found.values()]
        return found if len(found) == (self.np or 1) and all(ready) else None

    def send(self, number, rank):
        os.kill(self.ranks()[rank], number)

    def wait(self, code, timeout=60):
        """Its messages, once it has ended with this code."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"no end within {timeout} s\n{self.text()}") from error
        assert self.process.returncode == code, f"exit code {self.process.returncode}, not {code}\n{self.text()}"
        return self.text()

    def text(self):
        return self.errors.read_text(errors="replace") + self.output.read_text(errors="replace")

    def until_reported(self, *words, timeout=60):
        """The first line that contains all the words."""
        return until(lambda: next(iter(lines_with(self.text(), *words)), None), f"a line with {words}", timeout, self.text)

    def until_parts(self, number, timeout=60):
        """Waits for this number of finished parts while it runs."""
        def enough():
            assert self.process.poll() is None, f"ended before it had {number} parts\n{self.text()}"
            return len(parts(self.folder)) >= number
        until(enough, f"{number} parts", timeout, self.text)


def _handles(pid, number):
    """Whether the process has a handler for the signal: until then the default action would end it."""
    caught = [line.split()[1] for line in _read(pid, "status").splitlines() if line.startswith("SigCgt:")]
    return bool(caught) and bool(int(caught[0], 16) >> (number - 1) & 1)


def lines_with(text, *words):
    return [line for line in text.splitlines() if all(word in line for word in words)]


def parts(folder):
    """Part files with their final names."""
    return sorted(folder.glob("run.part-*-*.h5"))


def lists(folder):
    return sorted(folder.glob("run.part-*.list"))


def content(path, ignore=()):
    """{name: bytes} of all datasets and attributes of a file; of the setup all but the lines that begin with `ignore`."""
    found = {}

    def add(name, item):
        for key, value in item.attrs.items():
            if key in SEALS:
                continue
            found[f"{name}@{key}"] = str(np.asarray(value).tolist()).encode()
        if isinstance(item, h5py.Dataset):
            found[name] = item.dtype.str.encode() + item[()].tobytes()

    with h5py.File(path) as file:
        add("", file)
        file.visititems(add)
        setup = file.attrs["setup"] if "setup" in file.attrs else ""
        found["@setup"] = "\n".join(line for line in setup.splitlines() if not line.startswith(tuple(ignore)))
    return found


def state(folder):
    """{name: (inode, time of change, bytes)} of the files of a run: equal if nothing has touched them."""
    found = {}
    for path in sorted(folder.glob("run.*")):
        about = path.stat()
        found[path.name] = (about.st_ino, about.st_mtime_ns, path.read_bytes())
    return found
