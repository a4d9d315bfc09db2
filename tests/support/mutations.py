"""Damages small files of every kind at random, has the program read them, and defines what it must not do.

A case is determined by its kind and number: equal ones give equal bytes.
"""

import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from program import BINARY, environment

LONGEST = 20  # seconds for a command
ALLOWED = (0, 2, 3, 75)
MOST_MEMORY = 256 << 20  # resident bytes
# Beyond these limits the system ends a command, so that a defect does not harm the machine.
MOST_MAPPED, MOST_WRITTEN = 16 << 30, 1 << 30


# ---- damage

def _place(rng, size):
    """An offset: headers and ends are hit disproportionately often."""
    where = rng.random()
    if where < 0.3:
        return rng.randrange(min(size, 512))
    return rng.randrange(max(0, size - 512), size) if where < 0.45 else rng.randrange(size)


def _block(rng, size):
    """[begin, end) of a few bytes or of a large part of the file."""
    begin = _place(rng, size)
    length = rng.choice([1, 4, 8, 16, 64, 512, 4096, max(1, size // 4)])
    return begin, min(size, begin + length)


def flip(rng, data):
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        data[_place(rng, len(data))] ^= 1 << rng.randrange(8)


def cut(rng, data):
    del data[_place(rng, len(data)):]


def extend(rng, data):
    begin, end = _block(rng, len(data))
    data += rng.choice([bytes(end - begin), rng.randbytes(end - begin), bytes(data[begin:end]), bytes(data)])


def erase(rng, data):
    begin, end = _block(rng, len(data))
    data[begin:end] = bytes([rng.choice([0, 0, 255, 32])]) * (end - begin)


def scramble(rng, data):
    begin, end = _block(rng, len(data))
    data[begin:end] = rng.randbytes(end - begin)


def swap(rng, data):
    (a, a_end), (b, b_end) = sorted([_block(rng, len(data)), _block(rng, len(data))])
    if a_end <= b:
        data[a:b_end] = data[b:b_end] + data[a_end:b] + data[a:a_end]


def double(rng, data):
    begin, end = _block(rng, len(data))
    data[end:end] = data[begin:end]


def leave_out(rng, data):
    begin, end = _block(rng, len(data))
    del data[begin:end]


def copy_over(rng, data):
    begin, end = _block(rng, len(data))
    to = _place(rng, len(data))
    piece = data[begin:end]
    data[to:to + len(piece)] = piece


def change_number(rng, data):
    """Changes a word, which may be a length or an offset, in either byte order."""
    width, code = rng.choice([(2, "H"), (4, "I"), (8, "Q")])
    at = _place(rng, len(data)) // width * width
    if at + width > len(data):
        return
    order = rng.choice("<>") + code
    most = (1 << 8 * width) - 1
    value, = struct.unpack_from(order, data, at)
    value = rng.choice([0, 1, most, most >> 1, value + 1, value - 1, value << 1, value ^ (most >> 1)])
    struct.pack_into(order, data, at, value & most)


DAMAGES = [flip, flip, flip, cut, extend, erase, scramble, swap, double, leave_out, copy_over, change_number,
           change_number]


def mutated(data, rng):
    """(damaged data, a description of the damage)."""
    for _ in range(100):
        damaged = bytearray(data)
        done = rng.choice(DAMAGES)
        done(rng, damaged)
        if damaged != data:
            return bytes(damaged), done.__name__
    raise AssertionError("no damage found that changes the file")


# ---- commands

@dataclass
class Done:
    code: int
    reported: str
    bytes: int  # peak memory
    may_refuse: bool = True  # exit code 2 is not a defect

    def defect(self):
        """A defect that no input may cause; empty if there is none."""
        if self.code not in ALLOWED:
            return f"exit code {self.code}"
        if self.bytes > MOST_MEMORY:
            return f"{self.bytes >> 20} MiB of memory"
        if self.code == 2 and not any(line.strip() for line in self.reported.splitlines()):
            return "exit code 2 without a message"
        if self.code == 2 and not self.may_refuse:
            return "refused, although headers and structure are intact"
        return ""

    def wrong(self):
        """The defect, with the output of the command."""
        return self.defect() and f"{self.defect()}: {self.reported}"


# Runs a command and writes its peak memory, kB. Of a process that this one starts itself, the system would count the memory of
# this one, too, as it shares it until it executes the command; pytest's may be large.
MEASURED = """
import os, sys
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
with open(sys.argv[1], "w") as out:
    print(usage.ru_maxrss, file=out)
code = os.waitstatus_to_exitcode(status)
sys.exit(code) if code >= 0 else os.kill(os.getpid(), -code)
"""


def run(folder, *arguments):
    """Runs one command in `folder`, with limits on time, memory and output."""
    output, memory = folder / "told.txt", folder.with_name(f"{folder.name}.memory")
    command = [sys.executable, "-I", "-S", "-c", MEASURED, memory, "prlimit", f"--as={MOST_MAPPED}", f"--fsize={MOST_WRITTEN}", "--core=0", BINARY, *map(str, arguments)]
    with output.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment() | {"UCX_LOG_LEVEL": "fatal"},
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    ended = os.pidfd_open(process.pid)
    late = not select.select([ended], [], [], LONGEST)[0]
    os.close(ended)
    if late:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    text = output.read_text(errors="replace")
    if late:
        return Done(124, f"no end after {LONGEST} s\n{text[-3000:]}", 0)
    return Done(process.returncode, f"{' '.join(map(str, arguments))}\n{text[-6000:]}", int(memory.read_text()) << 10)


@dataclass
class Case:
    """A copy of the files, one of them damaged, and whether they may be refused."""

    folder: Path
    damaged: Path
    rng: random.Random
    may_refuse: bool

    def run(self, *arguments):
        done = run(self.folder, *arguments)
        done.may_refuse = self.may_refuse
        return done


def anything(_before, _after):
    return True


@dataclass
class Kind:
    """Files that a command reads. `judge(case)` runs it on damaged ones and returns the defect, or an empty text.
    `structure(before, after)`: whether headers or structure are damaged, so that the file may be refused."""

    name: str
    files: Path
    damaged: str  # name of the file in the folder, or a pattern
    judge: object
    structure: object = anything


@dataclass
class Failure:
    kind: str
    number: int
    what: str

    def __str__(self):
        return f"{self.kind} {self.number}: {self.what}"


def attempt(kind, seed, number, place):
    """Runs one case in a separate folder, which is kept if it fails. Returns the failure, or an empty text."""
    rng = random.Random(f"{kind.name} {seed} {number}")
    folder = place / f"{kind.name}-{seed}-{number}"
    shutil.copytree(kind.files, folder, symlinks=True)
    target = rng.choice(sorted(folder.glob(kind.damaged)))
    before = target.read_bytes()
    data, done = mutated(before, rng)
    target.write_bytes(data)
    try:
        wrong = kind.judge(Case(folder, target, rng, kind.structure(before, data)))
    except AssertionError as error:
        wrong = str(error)
    if wrong:
        return Failure(kind.name, number, f"{done} in {folder / target.name}: {wrong}")
    shutil.rmtree(folder)
    return None


