"""Runs that are disturbed (killed, stopped, out of disk space), and what must hold for their output."""

import contextlib
import ctypes
import itertools
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

from event_files import hit_lists, hits_of_events, read_hld_files, read_lmd_files
from program import BINARY, bounded, environment

STOPPED = 75
LONGEST = 60  # s, for one attempt
MARK = f"EVENTLOOM_TORTURED={os.getpid()}."
_numbers = itertools.count()

# Kinds of events in a folder, from <sys/inotify.h>.
IN_MODIFY, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x2, 0x80, 0x100, 0x200

# Kills, unmounts and removes everything at the end of its input, which comes when the tests end, however they end.
GUARD = """(
trap '' HUP INT TERM
cat >/dev/null
for process in /proc/[0-9]*; do
  ! grep -qz '^{mark}' $process/environ || kill -KILL ${{process#/proc/}}
done
umount --recursive --lazy '{folder}'
rm -rf '{folder}'
) <&0 2>/dev/null &"""


class Places:
    """Folders of 24 MiB for runs, each a separate file system where that is allowed; removed at the end of the
    `with`."""

    SIZE = 24 << 20

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="eventloom-torture."))
        self.mounted = self._mount(self.folder, 1 << 30)  # for the sessions of mpirun
        self.guard = subprocess.Popen(["bash", "-c", GUARD.format(folder=self.folder, mark=MARK)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, start_new_session=True)
        return self

    def __exit__(self, *_):
        self.guard.communicate()  # returns when the guard has removed all

    def _mount(self, folder, size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "eventloom-torture", folder]
        return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0

    @contextlib.contextmanager
    def place(self):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        if self.mounted:
            assert self._mount(folder, self.SIZE)
        try:
            (folder / "out").mkdir()
            yield folder
        finally:
            if self.mounted:
                subprocess.run(["umount", "--lazy", folder], check=True)
            shutil.rmtree(folder)


class FolderEvents:
    """Watches a folder: files made, renamed, removed, written to."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        mask = IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE
        if self.descriptor < 0 or libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask) < 0:
            raise OSError(ctypes.get_errno(), f"cannot watch {folder}")

    def close(self):
        os.close(self.descriptor)

    def next(self, timeout):
        """The files affected, with the kind of event; empty if nothing happens within `timeout` seconds."""
        if not select.select([self.descriptor], [], [], timeout)[0]:
            return []
        data, found, at = os.read(self.descriptor, 1 << 16), [], 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            found.append((mask, os.fsdecode(data[at + 16:at + 16 + length].rstrip(b"\0"))))
            at += 16 + length
        return found


class Process:
    """A process by its id, which the system reuses only after this one has been waited for."""

    def __init__(self, pid):
        self.pid, self.start = pid, self._start(pid)

    @staticmethod
    def _start(pid):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] in "ZX" else fields[19]

    def lives(self):
        return self.start is not None and self._start(self.pid) == self.start

    def send(self, number):
        if self.lives():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _processes(mark):
    """All processes that have inherited the mark in their environment: [(process, environment)]"""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended in the meantime
            variables = (entry / "environ").read_bytes().split(b"\0")
            if mark.encode() in variables:
                found.append((Process(int(entry.name)), dict(v.decode().partition("=")[::2] for v in variables)))
    return found


def shared_memory_of(jobs, pids):
    """Shared memory of these jobs, by the numbers that mpirun assigns, and of these processes."""
    named = [name for name in os.listdir("/dev/shm") for job in jobs if f".{job:x}." in name]
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return named + [f"SysV segment {row[1]} of process {row[4]}" for row in rows if int(row[4]) in pids]


def environment_in(sessions):
    """Several mpiruns must not share a session folder: one removes what another creates."""
    return {"OMPI_MCA_orte_tmpdir_base": str(sessions), "OMPI_MCA_hwloc_base_binding_policy": "none"}


class Attempt:
    """One start of the program in folder `place`, with its output in out/run.h5; `np` None: without mpirun."""

    def __init__(self, place, arguments, np):
        self.place, self.np = place, np
        self.out = place / "out"
        self.mark = f"{MARK}{next(_numbers)}"
        self.deadline = time.monotonic() + LONGEST
        self.begun = (self.out / "run.h5").exists()
        self.ranks, self.jobs, self.shared = {}, set(), set()
        self.events, self.closing = 0, None
        self.sessions = tempfile.mkdtemp(dir=place.parent)
        self.stderr = Path(self.sessions) / "stderr"
        command = [BINARY, *arguments]
        if np is not None:
            command = ["mpirun", "--oversubscribe", "-np", str(np), *command]
        env = environment() | environment_in(self.sessions) | {"OMPI_MCA_mpi_yield_when_idle": "1", "UCX_LOG_LEVEL": "fatal"}
        name, _, value = self.mark.partition("=")
        self.watch = FolderEvents(self.out)
        with open(self.stderr, "wb") as stderr:
            self.launcher = subprocess.Popen(command, cwd=place, env=env | {name: value}, stdin=subprocess.DEVNULL,
                                             stdout=stderr, stderr=stderr, start_new_session=True)

    def reported(self):
        return self.stderr.read_text(errors="replace")

    def over(self):
        assert time.monotonic() < self.deadline, f"no end after {LONGEST} s:\n{self.reported()[-3000:]}"
        return self.launcher.poll() is not None

    def wait_for_ranks(self):
        """Waits for the processes of all ranks; returns False if the launcher ends first."""
        while len(self.ranks) < (self.np or 1):
            if self.over():
                return False
            self._find_ranks()
            if len(self.ranks) < (self.np or 1):
                time.sleep(0.002)
        return True

    def _find_ranks(self):
        if self.np is None:
            self.ranks = {0: Process(self.launcher.pid)}
        for process, variables in _processes(self.mark) if self.np is not None else ():
            if "OMPI_COMM_WORLD_RANK" in variables:
                self.ranks[int(variables["OMPI_COMM_WORLD_RANK"])] = process
                if variables["PMIX_NAMESPACE"].isdigit():  # Open MPI 4, which names its segments by it
                    self.jobs.add(int(variables["PMIX_NAMESPACE"]))

    def wait_for_events(self, condition):
        """Waits until condition(self) holds, checked at every event in the output; returns False if the run ends
        first."""
        while True:
            if self._count_events(condition):
                return True
            if self.over():
                return False
            self._look_at_shared_memory()

    def _count_events(self, condition=lambda _: False):
        """Waits a little for events; returns True if the condition holds after one of them."""
        for kind, name in self.watch.next(0.02):
            self.events += 1
            if self.closing is not None:
                self.closing += 1
            if kind & IN_MOVED_TO and name == "run.h5":
                self.begun = True
            elif name == "run.h5.partial" and self.begun and self.closing is None:
                self.closing = 0
            if condition(self):
                return True
        return False

    def _look_at_shared_memory(self):
        """Remembers the named segments of the ranks."""
        if self.shared:
            return
        for rank in self.ranks.values():
            with contextlib.suppress(OSError):
                maps = Path(f"/proc/{rank.pid}/maps").read_text()
                self.shared |= {path for path in re.findall(r"(/dev/shm/\S+)$", maps, re.MULTILINE)} | {""}

    def wait_for_line(self, pattern, after=0):
        """Waits for the line in its messages from character `after` on; returns False if run.h5 is replaced first."""
        while not re.search(pattern, self.reported()[after:]):
            if self.over() or self.closing is not None:
                return False
            self._count_events()
        return True

    def wait(self):
        """The exit code of the launcher, as a shell sees it, once all processes are gone."""
        while not self.over():
            self._count_events()
            self._end_stuck_launcher()
        self._wait_until(lambda: not _processes(self.mark), lambda: f"processes are left: {_processes(self.mark)}")
        self._wait_until(lambda: not self.debris(), lambda: f"shared memory is left: {self.debris()}", 3)
        code = self.launcher.returncode
        return code if code >= 0 else 128 - code

    def _end_stuck_launcher(self):
        """mpirun 4.1 may hang at its own end, after reporting which rank was killed, if that happened while the rank
        connected to it: once no rank is left, it is killed, too, and the exit code is the one that it had reported."""
        reported = self.reported()
        if "PMIX ERROR: UNREACHABLE" not in reported or "exited on signal 9" not in reported:
            return
        if not any("OMPI_COMM_WORLD_RANK" in variables for _, variables in _processes(self.mark)):
            self.launcher.kill()

    def _wait_until(self, condition, what, seconds=15):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"{what()}\n{self.reported()[-3000:]}"
            time.sleep(0.02)

    def debris(self):
        """The shared memory of this job only, since others may run at the same time."""
        left = [path for path in self.shared if path and os.path.exists(path)]
        return left + shared_memory_of(self.jobs, {rank.pid for rank in self.ranks.values()})

    def end(self):
        """Ends all its processes, in any state."""
        for process, _ in _processes(self.mark):
            process.send(signal.SIGKILL)
        self.launcher.wait()
        self.watch.close()
        shutil.rmtree(self.sessions, ignore_errors=True)


@contextlib.contextmanager
def attempt(place, arguments, np):
    started = Attempt(place, arguments, np)
    try:
        yield started
    finally:
        started.end()


def fill_disk(place):
    """Fills the file system of `place` until its file `ballast` is removed."""
    with open(place / "ballast", "ab") as ballast:
        for size in (1 << 20, 4096):
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(ballast.fileno(), os.fstat(ballast.fileno()).st_size, size)


def free_disk(place):
    (place / "ballast").unlink(missing_ok=True)


class FinishedParts:
    """The finished parts in a folder, which from then on never change."""

    def __init__(self, out):
        self.out, self.known, self.beside = out, {}, {}

    def look(self):
        """After an attempt, checks that earlier parts are unchanged, and remembers the new ones."""
        listed = self._listed()
        for name, seen in self.beside.items():
            assert self._state(name) == seen, f"the list-mode file {name} was {seen}, is {self._state(name)}"
        self.beside |= {path.name: self._state(path.name) for path in self.out.glob("ev*") if path.suffix != ".partial"}
        for name, seen in self.known.items():
            assert self._state(name) == seen, f"the finished part {name} was {seen}, is {self._state(name)}"
            assert listed is None or name in listed, f"the finished part {name} is no longer in its list"
        for path in self.out.glob("run.part-*.h5"):
            assert listed is None or path.name in listed, f"{path.name} has its final name but is in no list"
        for name in listed if listed is not None else [path.name for path in self.out.glob("run.part-*.h5")]:
            self.known[name] = self._state(name)
            assert listed is None or self.known[name] and self.known[name][2] == listed[name], (
                f"{name} is listed with {listed[name]} bytes but is {self.known[name]}")

    def _state(self, name):
        """The state of the part, under its final name or, if it did not receive that in time, as written."""
        for path in (self.out / name, self.out / f"{name}.partial"):
            if path.exists():
                status = path.stat()
                return status.st_ino, status.st_mtime_ns, status.st_size
        return None

    def _listed(self):
        """{name: bytes} by the lists of parts; None if the run is closed and the lists may be gone."""
        run_file = self.out / "run.h5"
        if run_file.exists():
            with h5py.File(run_file) as file:
                if file.attrs["closed"]:
                    return None
        listed = {}
        for path in self.out.glob("run.part-*.list"):
            *lines, _torn = path.read_bytes().split(b"\n")
            for line in lines[1:]:
                part = json.loads(line.partition(b" ")[2])["part"]
                listed[part["name"]] = part["bytes"]
        return listed


def merge(place):
    """Merges the output in `place`; returns the merged file."""
    bounded([BINARY, "merge", "out/run.h5", "--output", "merged.h5"], env=environment(), timeout=LONGEST, code=None, cwd=place)
    return place / "merged.h5"


def assert_closed(place):
    """A run that has ended leaves run.h5, the parts and list-mode files it names, a balanced ledger, and no file in its scratch folder."""
    with h5py.File(place / "out" / "run.h5") as file:
        counts = {name: int(file.attrs[name]) for name in file.attrs if name.startswith("hits_")}
        assert file.attrs["closed"] == 1
        files = [name.decode() for table in ("parts", "event_files") if table in file for name in file[f"{table}/name"][:]]
    lost = sum(count for name, count in counts.items() if name.startswith("hits_dropped_"))
    assert counts["hits_in"] > 0
    assert counts["hits_in"] == counts["hits_in_events"] + counts["hits_outside"] + counts["hits_rejected"] + lost, counts
    assert sorted(os.listdir(place / "out")) == sorted(["run.h5", *files])
    assert [path for path in (place / "scratch").rglob("*") if path.is_file()] == []


def assert_same_event_files(place, merged):
    """The list-mode files, if there are any, have every event once."""
    expected = hits_of_events(merged)
    for kind, read in (("lmd", read_lmd_files), ("hld", read_hld_files)):
        found = [hits for path in (place / "out").glob(f"ev*.{kind}") for hits in hit_lists(read([path]))]
        assert found == [] or sorted(found) == expected, f"{len(found)} events in .{kind}, not these {len(expected)}"


def _datasets(path):
    """All datasets of a file by name, and its counters."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[:]}) if isinstance(item, h5py.Dataset) else None)
        found |= {f"attribute {name}": value for name, value in file.attrs.items()
                  if name not in ("setup", "attributes_crc32", "datasets")}
    return found


def assert_same_but_for_builders(merged, expected):
    """Another number of builders changes only the setup and the builder of each slice."""
    found, wanted = _datasets(merged), _datasets(expected)
    assert found.keys() == wanted.keys()
    different = [name for name in wanted if name != "ledger/builder" and not np.array_equal(found[name], wanted[name])]
    assert not different, f"different from the undisturbed run: {different}"
