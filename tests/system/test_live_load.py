"""Live runs on a machine that is far too busy, and whose ranks are stopped for a while now and then: whatever the boards did (one
jumps ahead, one comes late, one never), a run ends soon after its end was asked for, its ledger balances, and nothing is lost
without its exit code.

Soon is said without the wall clock: the time in which a rank waited for a core, or was stopped by the test, does not count.

EVENTLOOM_LOADED_RUNS=0-499 for a longer campaign; EVENTLOOM_LOADED_RUNS_BUSY=15 for so many busy processes beside each.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interrupted import gone, waited_for_a_core
from live import LiveRun, free_port, udp
from misbehaviour import BadBoard
from epochs_file import read_epochs_file
from program import generate
from results import assert_balanced, read_ledger

SEEDS = os.environ.get("EVENTLOOM_LOADED_RUNS", "0-5")
BUSY = int(os.environ.get("EVENTLOOM_LOADED_RUNS_BUSY", 3))
SLICE_EPOCHS = 100
TIMEOUT = 1  # s, --epoch-timeout
LEFT = TIMEOUT + 10  # s that a run may take until its end
LONGEST = 300  # s of the wall clock, whatever else runs
AHEAD = (6_000, 7_000_000, 60_000_000, 2**28, 10**12)  # epochs: 60 ms, more than a minute, more than an hour, ...


def seeds():
    first, _, last = SEEDS.partition("-")
    return range(int(first), int(last or first) + 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two seconds of data."""
    uris = generate(tmp_path_factory.mktemp("streams"), sources=3, rate=2_000, timing="poisson", hits=6, width="50ns",
                    noise=5_000, duration="2s", seed=7, **{"epochs-per-buffer": 500})
    return [read_epochs_file(Path(uri.removeprefix("file:"))) for uri in uris]


@contextlib.contextmanager
def busy(number):
    """Runs that many processes that only use processor time."""
    loops = [subprocess.Popen(["nice", "-n", "1", sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@dataclass
class Rank:
    """The cost of a rank's end, without the time that the machine or the test withheld from it."""

    pid: int
    waited: float = 0.0
    stopped: float = 0.0
    before: float = field(init=False)

    def __post_init__(self):
        self.before = waited_for_a_core(self.pid)

    def look(self):
        self.waited = max(self.waited, waited_for_a_core(self.pid) - self.before)


class Front(BadBoard):
    """A board that sends correctly except for one misbehaviour."""

    def __init__(self, file, port, rng, seconds):
        super().__init__(file, port, rng.randrange(2**32), float("inf"))
        self.until = float("inf")
        self.kind_of_board = rng.choice(["good", "good", "jumps", "late", "never", "silent", "restarts"])
        self.when = rng.uniform(0, seconds)
        self.ahead = rng.choice(AHEAD)

    def play(self, passed, epoch):
        if self.kind_of_board == "never" or (self.kind_of_board == "late" and passed < self.when):
            return
        if passed >= self.when:
            if self.kind_of_board == "jumps":
                self.shift = self.ahead
            elif self.kind_of_board == "silent":
                return
            elif self.kind_of_board == "restarts":
                self.kind_of_board = "good"
                self.restart(0)
        self.proceed(epoch)


def disturb(rng, ranks, stopped, now):
    """Stops a rank for a while, or lets a stopped one continue."""
    for rank, until in list(stopped.items()):
        if now >= until:
            with contextlib.suppress(ProcessLookupError):
                os.kill(ranks[rank].pid, signal.SIGCONT)
            del stopped[rank]
    if rng.random() < 0.005 and len(stopped) < len(ranks):
        rank = rng.choice([one for one in ranks if one not in stopped])
        length = rng.choice([0.05, 0.3, 1.0, 2.5])
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[rank].pid, signal.SIGSTOP)
        stopped[rank] = now + length
        ranks[rank].stopped += length


def options_of(rng, seconds):
    how = rng.choice([signal.SIGINT, signal.SIGTERM, "--duration"])
    options = ["--define", "gap:25ns,4", "--epochs-per-slice", SLICE_EPOCHS, "--epoch-timeout", f"{TIMEOUT}s",
               "--on-congestion", rng.choice(["block", "drop"]), "--live-buffer", rng.choice(["64KiB", "64KiB", "4MiB"])]
    options += rng.choice([[], ["--filters", 1], ["--filters", 2]])
    if rng.random() < 0.3:
        options += ["--flush-after", "100ms"]
    if how == "--duration":
        options += ["--duration", f"{seconds:.2f}s"]
    return how, options


@pytest.mark.parametrize("seed", seeds())
def test_a_run_ends_soon(tmp_path, files, seed):
    rng = random.Random(seed)
    np, seconds = rng.choice([None, 2, 3]), rng.uniform(0.3, 3)
    how, options = options_of(rng, seconds)
    ports = [free_port(), free_port()]
    disturbs = rng.random() < 0.5
    with contextlib.ExitStack() as stack:
        stack.enter_context(busy(BUSY))
        boards = [stack.enter_context(Front(file, ports[number // 2], rng, seconds)) for number, file in enumerate(files)]
        ids = [file.source for file in files]
        uris = [udp(ports[0], sources=f"{ids[0]},{ids[1]}"), udp(ports[1], sources=ids[2])]
        run = stack.enter_context(LiveRun(tmp_path, uris, *options, np=np).listening())
        ranks = {rank: Rank(pid) for rank, pid in run.ranks().items()}
        for board in boards:
            if board.kind_of_board not in ("never", "late"):
                board.restart(0)
        begun, stopped = time.monotonic(), {}
        asked, ended = None, False
        while not ended:
            now = time.monotonic()
            passed = now - begun
            for board in boards:
                board.play(passed, int(passed * 100_000))
            if disturbs:
                disturb(rng, ranks, stopped, now)
            if asked is None and passed >= seconds:
                asked = now
                ranks = {number: Rank(rank.pid) for number, rank in ranks.items()}
                if how != "--duration":
                    run.signal(how)
            for rank in ranks.values():
                rank.look()
            ended = all(gone(rank.pid) for rank in ranks.values())
            took = now - (asked or now)
            # All ranks wait for the one that is delayed the longest.
            own = took - max(rank.waited + rank.stopped for rank in ranks.values())
            assert own < LEFT and took < LONGEST, (
                f"seed {seed}: no end {took:.1f} s, {own:.1f} s without what it was kept from, after {how} was asked for; boards "
                f"{[board.kind_of_board for board in boards]}, {np} ranks, {options}")
            time.sleep(0.005)
        run.process.wait(60)
        text = run.text()
        assert run.process.returncode in (0, 3), text
    print(f"seed {seed}: {np} ranks, {how}, ended in {took:.1f} s, {own:.1f} s of its own, code {run.process.returncode}, "
          f"{[board.kind_of_board for board in boards]}, {options}")
    assert_balanced(read_ledger(tmp_path / "run.h5"))
