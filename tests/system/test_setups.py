"""Random set-ups of two runs that meet in files: a run is killed and resumed in another set-up, or its saved hits are read back.
However schedule, roles, slices, rings and threads are combined, the runs end, none is refused, and the result is that of the
serial reference. Set-ups of a single run are played in tests/engine.

EVENTLOOM_SETUPS=N tries so many, where 8 are the default; number n is always the same set-up.
"""

import os
import random
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from inject import LIBRARY, Injected
from program import Run, generate, schedule_table
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

NUMBERS = range(int(os.environ.get("EVENTLOOM_SETUPS", 8)))
TIMEOUT = 60
EPOCH = 10_000  # ticks of 1 ns

RECORDINGS = {
    "few": dict(sources=2, rate=20_000, timing="gaussian", hits=6, width="200ns", noise=50_000, duration="3ms", seed=11),
    "many": dict(sources=9, rate=10_000, timing="poisson", hits=5, width="60ns", noise=30_000, duration="2ms", payload=2, seed=12),
    "bursts": dict(sources=4, rate=3_000, timing="burst", hits=12, width="100ns", noise=1_000, duration="6ms", payload=1, seed=13),
    "thin": dict(sources=3, rate=100, timing="static", hits=4, width="40ns", noise=200, duration="20ms", seed=14),
}
DEFINITIONS = ["gap:60,4", "gap:25ns,2", "gap:300,3", "multiplicity:100,3,1,2", "multiplicity:1us,6", "tag",
               "gap:60,3,200,90", "coincidence:60ns,sources>=2", "coincidence:200,n_hits>=4&&source:0-1>=2||channel:0x0-0x3>=3,50,1us"]
FILTERS = ["n_hits>=5", "duration<150ns", "systems>=2", "channel:0x0-0xffff>=1", "sources>=2", "source:1-2>=2 || !(n_hits<4)"]
SCHEDULES = ["round-robin", "chaotic", "balanced", "unshifted", "table", "round-robin --slot 2ms"]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    made = {}
    for name, options in RECORDINGS.items():
        uris = generate(tmp_path_factory.mktemp(name), **options)
        made[name] = uris, weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])
    return made


@dataclass
class Layout:
    """Settings that may not change the result."""

    ranks: int
    threads: int
    builders: int
    schedule: str
    options: dict = field(default_factory=dict)

    def words(self, table):
        schedule = [table(self.builders)] if self.schedule == "table" else self.schedule.split()
        options = [word for name, value in self.options.items() for word in (f"--{name}", value)]
        return ["--builders", self.builders, "--schedule", *schedule, *options]


def up_to(draw, most):
    """A number from 1 on; small and large ones are equally frequent."""
    return int(round(most ** draw.random()))


def random_layout(draw):
    return Layout(draw.randint(1, 4), draw.choice([1, 1, 2, 3]), draw.randint(1, 6), draw.choice(SCHEDULES), {
        "filters": draw.choice([0, 0, 1, 2, 3]),
        "slices-in-flight": up_to(draw, 16),
        "cell-size": draw.choice(["256", "300", "1KiB", "4KiB", "64KiB", "1MiB"]),
        "ring-depth": up_to(draw, 32),
        "segment-size": draw.choice(["1", "64KiB", "1GiB"]),
        "compress": draw.choice([0, 0, 0, 1, 6]),
    })


@dataclass
class Setup:
    recording: str
    definition: str
    filters: list
    overlap: int
    epochs_per_slice: int
    layout: Layout
    then: str  # "resumed": killed and resumed in another layout, "sorted": saved and read back
    again: Layout
    draw: random.Random

    def meaning(self):
        """Options that the result, or its account, depends on."""
        filters = [word for expression in self.filters for word in ("--filter", expression)]
        return ["--define", self.definition, *filters, "--overlap", self.overlap,
                "--epochs-per-slice", self.epochs_per_slice]


def random_setup(number):
    draw = random.Random(number)
    return Setup(draw.choice(list(RECORDINGS)), draw.choice(DEFINITIONS),
                 draw.sample(FILTERS, draw.choice([0, 0, 1, 2])), 1000 * up_to(draw, 500) + draw.choice([0, 0, 1, 777]),
                 up_to(draw, 400), random_layout(draw), ["resumed", "sorted"][number % 2],
                 random_layout(draw), draw)


def interrupt(setup, arguments, folder):
    """Does the run with a rank that fails on the way; returns whether it gets that far."""
    layout = setup.layout
    return Injected(arguments, folder, np=layout.ranks, omp=layout.threads, timeout=TIMEOUT, call="MPI_Put", do="kill",
             rank=setup.draw.randrange(layout.ranks), at=up_to(setup.draw, 200)).happened


def run_of(setup, folder, uris, table, interruptions):
    """The second of two runs, with the result to be examined."""
    folder.mkdir()
    layout, words, again = setup.layout, setup.meaning(), setup.again
    if setup.then == "resumed":
        sources = [word for uri in uris for word in ("--source", uri)]
        arguments = ["run", *sources, *words, *layout.words(table), "--output", folder / "run.h5"]
        interruptions.append(interrupt(setup, arguments, folder))
        words = [*words, "--resume"]
    else:
        first = Run(folder / "first", uris, *words, *layout.words(table), "--save-sorted", folder / "sorted",
                    np=layout.ranks, omp=layout.threads, timeout=TIMEOUT, code=None)
        assert first.done.returncode in (0, 3), first.done.stderr
        # Builders of the first run are sources of the second, which a table must know.
        uris = [f"sorted:{folder / 'sorted'}"]
        table = partial(schedule_table, folder, setup.layout.builders)
    return Run(folder, uris, *words, *again.words(table), np=again.ranks, omp=again.threads, timeout=TIMEOUT, code=None)


@pytest.fixture(scope="module")
def interruptions():
    """Whether each run that was to be interrupted was interrupted."""
    return []


@pytest.mark.parametrize("number", NUMBERS)
def test_any_set_up_gives_the_result_of_the_serial_reference(recordings, tmp_path, interruptions, number):
    setup = random_setup(number)
    print(setup)
    if setup.then == "resumed" and not LIBRARY.exists():
        pytest.skip("the library that interrupts runs is not built")
    uris, hits = recordings[setup.recording]
    run = run_of(setup, tmp_path / "run", uris, partial(schedule_table, tmp_path, len(uris)), interruptions)
    events = find_events(hits, setup.definition, setup.overlap, setup.filters)
    assert run.done.returncode == (3 if np.any(events.truncated & ~events.rejected) else 0), run.done.stderr
    assert_same(read_merged(run.merged), merged_file(events, with_payload=len(hits.payload) > 0))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, setup.epochs_per_slice * EPOCH)


def test_most_interruptions_happened(interruptions):
    if not interruptions:
        pytest.skip("no set-up with an interruption was tried")
    assert sum(interruptions) >= len(interruptions) / 2, interruptions
