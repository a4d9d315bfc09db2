"""Killed, stopped, out of disk, at any moment: resumed until done, a run gives the bytes of the undisturbed one.

Each seed draws the shape of a run, what disturbs it, whom and when. EVENTLOOM_TORTURE_SEEDS=0-499 for more of them, =17 to see
one again. A moment is a number of events in the output folder, so that it does not depend on the speed of the machine.
"""

import filecmp
import functools
import os
import random
import re
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from epochs_file import read_epochs_file
from program import DATA, generate
from results import assert_balanced, read_ledger
from torture import (STOPPED, FinishedParts, Places, assert_closed, assert_same_but_for_builders, assert_same_event_files, attempt,
                     fill_disk, free_disk, merge)

SIDE_BY_SIDE = 3

# Input, ranks (0: without mpirun), builders, filters, schedule, epochs per slice, bytes of a segment, more options.
SHAPES = [
    ("three", 3, 2, 0, "round-robin", 20, "1", "--define gap:60,4 --speed 0.035"),
    ("five", 4, 3, 0, "chaotic", 10, "1", "--define gap:60,4 --speed 0.04"),
    ("five", 3, 2, 2, "round-robin", 20, "4KiB", "--define multiplicity:100,5,1,2 --speed 0.04 --scratch scratch"),
    ("one", 1, 2, 0, "round-robin", 10, "1", "--define gap:500,3 --speed 0.04"),
    ("three", 2, 3, 0, "balanced", 20, "1", "--define gap:60,4 --scratch scratch --speed 0.04"),
    ("damaged", 3, 2, 0, "round-robin", 20, "1", "--define gap:60,4 --speed 0.035"),
    ("spikes", 3, 2, 0, "round-robin", 20, "1", "--define gap:20000,10 --epoch 500us --overlap 2ms --speed 3"),
    ("triggered", 2, 2, 0, "chaotic", 1, "1", "--define tag --ring-depth 2 --cell-size 4KiB"),
    ("five", 0, 2, 0, "round-robin", 10, "1", "--define gap:60,4 --scratch scratch --speed 0.035"),
    ("three", 4, 1, 3, "chaotic", 10, "1", "--define multiplicity:100,5,1,2 --filter n_hits>=6 --speed 0.04"),
    ("damaged", 2, 3, 1, "balanced", 20, "100", "--define gap:60,4 --scratch scratch --slices-in-flight 2 --speed 0.04"),
    ("five", 3, 3, 0, "balanced", 40, "20KiB", "--define gap:60,4 --speed 0.035 --compress 1"),
    ("three", 3, 2, 0, "round-robin", 40, "100KiB", "--define gap:60,4 --speed 0.035 --also lmd:out/ev --also hld:out/ev?size=64KiB"),
]
KINDS = {"kill a rank": 3, "kill mpirun": 2, "signal to a rank": 2, "signal to mpirun": 2, "kill while stopping": 2,
         "stop a rank": 4, "full disk": 3}
SIGNALS = ("SIGTERM", "SIGINT", "SIGUSR1")


@dataclass
class Disturbance:
    kind: str
    moment: str  # "start": once its processes exist; "soon", "run"; "closing": while run.h5 is replaced
    when: float  # run: share of the events of an undisturbed run; soon and closing: number of events
    rank: float  # times the number of ranks
    signal: str
    respread: tuple  # ranks, builders and filters of the attempt that resumes; None: unchanged

    def __str__(self):
        signal_name = f" ({self.signal})" if "signal" in self.kind else ""
        return f"{self.kind}{signal_name}, {self.moment} {self.when:.3f}, rank {self.rank:.2f} of all, then {self.respread}"


def draw(rng, share, ranks, full_disks):
    """`share`: the largest share of the run that passes before it comes."""
    kinds = {kind: weight for kind, weight in KINDS.items() if (full_disks or kind != "full disk") and (
        ranks > 1 or kind != "stop a rank") and (ranks or "mpirun" not in kind)}
    kind = rng.choices(list(kinds), kinds.values())[0]
    moments = ["soon", *["run"] * 6]
    if kind in ("kill a rank", "kill mpirun"):
        moments += ["start", "closing"]
    if kind == "full disk":
        moments += ["closing"]
    moment = rng.choice(moments)
    last = {"closing": 2 if kind == "full disk" else 6}.get(moment, 10)
    when = rng.uniform(0, share) if moment == "run" else rng.randint(1, last)
    spread = rng.choice([None, None, None, (rng.randint(1, 4), None, None),
                         (rng.randint(1, 4), rng.randint(1, 4), rng.randint(0, 2))])
    return Disturbance(kind, moment, when, rng.random(), rng.choice(SIGNALS), spread)


def seeds():
    first, _, last = os.environ.get("EVENTLOOM_TORTURE_SEEDS", "0-51").partition("-")
    return range(int(first), int(last or first) + 1)


class Inputs:
    """URIs of the sources by the name of an input."""

    def __init__(self, folder):
        self.uris = {
            "one": generate(folder / "one", sources=1, rate=20_000, timing="poisson", hits=8, noise=200_000, duration="40ms"),
            "three": generate(folder / "three", sources=3, rate=20_000, timing="poisson", hits=8, noise=100_000,
                              duration="40ms"),
            "five": generate(folder / "five", sources=5, rate=20_000, timing="burst", hits=8, noise=100_000, duration="40ms",
                             payload=2),
            "spikes": [f"csv:{DATA}/nest_brunel/precise/src0[0-3]*.dat?time=2&channel=1&unit=ms&skip=3"],
            "triggered": [f"lmd:{place}/gen_split_*.lmd?concat&time=tag" for place in (DATA / "lmd", folder / "again")],
        }
        (folder / "again").mkdir()
        for file in (DATA / "lmd").glob("gen_split_*.lmd"):
            shutil.copy(file, folder / "again")
        self.uris["damaged"] = list(self.uris["three"])
        whole = Path(self.uris["three"][1].removeprefix("file:"))
        data = bytearray(whole.read_bytes())
        for buffer in read_epochs_file(whole).buffers[50:200:50]:
            data[buffer.offset + buffer.size // 2] ^= 1
        (folder / "damaged.epochs").write_bytes(data)
        self.uris["damaged"][1] = f"file:{folder}/damaged.epochs"


class Shape:
    """A way to run: its options, and its undisturbed result."""

    def __init__(self, row, uris, places, folder):
        self.input, self.np, self.builders, self.filters, self.schedule, self.per_slice, self.segment, self.more = row
        self.uris, self.places, self.folder, self.lock = uris, places, folder, threading.Lock()

    def options(self, builders=None, filters=None):
        sources = [word for uri in self.uris for word in ("--source", uri)]
        return ["run", *sources, "--builders", str(builders or self.builders),
                "--filters", str(self.filters if filters is None else filters), "--schedule", self.schedule,
                "--epochs-per-slice", str(self.per_slice), "--segment-size", self.segment, *self.more.split(),
                "--stall-warning", "200ms", "--output", "out/run.h5"]

    @functools.cached_property
    def undisturbed(self):
        """(merged file, exit code, number of events in the output folder)"""
        with self.places.place() as place:
            with attempt(place, self.options(), self.np or None) as run:
                code = run.wait()
                assert code == (3 if self.input == "damaged" else 0), run.reported()
            assert_closed(place)
            self.folder.mkdir()
            merged = shutil.copy(merge(place), self.folder)
        assert_balanced(read_ledger(merged))
        return merged, code, run.events

    def expected(self):
        with self.lock:
            return self.undisturbed


class Torture:
    """The disturbed run of a seed."""

    def __init__(self, seed, shape, place, full_disks):
        self.shape, self.place = shape, place
        self.merged, self.code, self.events = shape.expected()
        rng = random.Random(seed)
        n = rng.randint(1, 3)
        self.disturbances = [draw(rng, 0.6 / n, shape.np, full_disks) for _ in range(n)]
        self.resumes_always = rng.random() < 0.5  # even if nothing has begun, or all is complete
        self.log, self.hits = [], []
        self.parts = FinishedParts(place / "out")
        self.np, self.builders, self.filters = shape.np or None, None, None
        self.builders_as_before = True

    def run(self):
        left = list(self.disturbances)
        while self.attempt(left) != self.code:
            free_disk(self.place)
            self.parts.look()
        free_disk(self.place)
        self.parts.look()
        if self.resumes_always:
            assert self.attempt([]) == self.code
        assert_closed(self.place)
        merged = merge(self.place)
        if "--also" in self.shape.more:
            assert_same_event_files(self.place, merged)
        if self.builders_as_before and self.shape.schedule != "balanced":
            assert filecmp.cmp(merged, self.merged, shallow=False), "the merged file differs from the undisturbed run's"
        else:
            assert_same_but_for_builders(merged, self.merged)

    def attempt(self, left):
        """Disturbs the run until it ends; returns the exit code."""
        resume = ["--resume"] if self.log or self.resumes_always else []
        options = self.shape.options(self.builders, self.filters) + resume
        with attempt(self.place, options, self.np) as run:
            self.log.append(f"np {self.np}, {' '.join(options[-8:])}")
            found = run.wait_for_ranks()
            disturbance = None
            while found and left:
                disturbance = left.pop(0)
                if disturbance.kind == "stop a rank" and len(run.ranks) == 1:  # no rank is left to report it
                    disturbance = None
                    continue
                self.log.append(str(disturbance))
                found = self.wait_for_moment(run, disturbance) and disturbance
                if found and self.act(run, disturbance):
                    break
            try:
                code = run.wait()
            finally:
                reported = run.reported()
                self.log.append(reported[-2500:])
        self.log.append(f"exit code {code}")
        self.judge(code, disturbance, bool(found), reported)
        if disturbance and disturbance.respread and code != self.code:
            self.respread(*disturbance.respread)
        return code

    def judge(self, code, disturbance, in_time, reported):
        """`disturbance`: the last one of the attempt, or None."""
        stopped = disturbance and disturbance.kind == "stop a rank"
        if disturbance and not (stopped and in_time):
            self.hits.append((disturbance.kind, code != self.code))
        if disturbance and in_time and not stopped:
            self.check_code(code, disturbance, reported)
            self.check_message(reported, code, disturbance)
        else:
            assert code == self.code, f"exit code {code} of an attempt that nothing has ended"

    def respread(self, ranks, builders, filters):
        self.np = ranks
        if builders is not None:
            self.builders, self.filters, self.builders_as_before = builders, filters, False

    def wait_for_moment(self, run, disturbance):
        if disturbance.moment == "start":
            return True
        if disturbance.moment == "closing":
            return run.wait_for_events(lambda r: r.closing is not None and r.closing >= disturbance.when - 1)
        least = run.events + (disturbance.when if disturbance.moment == "soon" else max(1, int(disturbance.when * self.events)))
        return run.wait_for_events(lambda r: r.events >= least)

    def act(self, run, disturbance):
        """Returns whether this is the end of the attempt."""
        number = int(disturbance.rank * len(run.ranks))
        if disturbance.kind == "stop a rank":
            self.stop(run, number)
            return False
        if disturbance.kind == "full disk":
            fill_disk(self.place)
        elif disturbance.kind == "kill a rank":
            run.ranks[number].send(signal.SIGKILL)
        elif disturbance.kind == "kill mpirun":
            run.launcher.kill()
        elif disturbance.kind == "kill while stopping":
            run.ranks[number].send(signal.SIGUSR1)
            if run.wait_for_line("stopping cleanly"):
                run.ranks[0].send(signal.SIGKILL)
        elif disturbance.kind == "signal to a rank":
            run.ranks[number].send(getattr(signal, disturbance.signal))
        else:
            run.launcher.send_signal(getattr(signal, disturbance.signal))
        return True

    def stop(self, run, number):
        """Stops a rank until it has been reported by name."""
        reported = len(run.reported())
        run.ranks[number].send(signal.SIGSTOP)
        self.hits.append(("stop a rank", run.wait_for_line(rf"warning: rank {number} ", reported)))
        run.ranks[number].send(signal.SIGCONT)

    def check_code(self, code, disturbance, reported):
        if disturbance.kind in ("kill a rank", "kill while stopping"):
            allowed = {self.code, STOPPED, 137}
        elif disturbance.kind == "kill mpirun":
            allowed = {self.code, 137}
        elif disturbance.kind == "signal to mpirun" and disturbance.signal != "SIGUSR1":
            allowed = {self.code, STOPPED, 1}  # mpirun ends its ranks within seconds
        else:
            allowed = {self.code, STOPPED}
        begun = (self.place / "out" / "run.h5").exists()
        if disturbance.kind == "full disk" and "No space left on device" in reported and not begun:
            allowed.add(2)
        assert code in allowed, f"exit code {code} after: {disturbance}"

    def check_message(self, reported, code, disturbance):
        """The others report whom they have lost."""
        if disturbance.kind == "kill a rank" and disturbance.moment == "run" and self.np and self.np > 1 and code != self.code:
            number = int(disturbance.rank * self.np)
            assert re.search(rf"rank {number} \(.*--resume", reported), f"no message that rank {number} is lost"


class Campaign:
    """Runs all seeds once, some side by side."""

    def __init__(self, folder, places, chosen):
        self.folder, self.places, inputs = folder, places, Inputs(folder)
        self.shapes = [Shape(row, inputs.uris[row[0]], places, folder / f"shape-{n}") for n, row in enumerate(SHAPES)]
        self.hits = []
        self.pool = ThreadPoolExecutor(SIDE_BY_SIDE)
        self.results = {seed: self.pool.submit(self.torture, seed) for seed in chosen}

    def torture(self, seed):
        shape = self.shapes[seed % len(self.shapes)]
        with self.places.place() as place:
            torture = Torture(seed, shape, place, self.places.mounted)
            try:
                torture.run()
            except BaseException as error:
                kept = self.folder / f"seed-{seed}"
                free_disk(place)
                shutil.copytree(place, kept)
                story = "\n".join(torture.log)
                raise AssertionError(f"{error}\n\n{story}\n\nAgain: EVENTLOOM_TORTURE_SEEDS={seed} pytest "
                                     f"tests/system/test_torture.py; what it left: {kept}") from error
            finally:
                self.hits += torture.hits


@pytest.fixture(scope="module")
def campaign(request, tmp_path_factory):
    chosen = [item.callspec.params["seed"] for item in request.session.items
              if item.module is request.module and "seed" in getattr(getattr(item, "callspec", None), "params", {})]
    with Places() as places:
        campaign = Campaign(tmp_path_factory.mktemp("torture"), places, chosen)
        yield campaign
        campaign.pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("seed", seeds())
def test_equals_the_undisturbed_run(campaign, seed):
    campaign.results[seed].result()


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_disturbances_come_in_time(campaign, capsys, kind):
    """The seeds serve their purpose: most disturbances come before the run has ended."""
    if kind == "full disk" and not campaign.places.mounted:
        pytest.skip("no full disks: a file system of a test's own cannot be mounted here")
    hits = [hit for name, hit in campaign.hits if kind in (name, "all")]
    if len(campaign.results) < 50:
        pytest.skip(f"{len(hits)} of them are too few to tell")
    with capsys.disabled():
        print(f"\n{kind}: {sum(hits)} of {len(hits)} in time")
    assert sum(hits) >= (0.7 if kind == "all" else 0.4) * len(hits) > 0
