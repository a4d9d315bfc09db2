"""A call that fails on one rank: memory, a file, HDF5, MPI, or an unexpected exception. The run ends at once with its cause
in the output, and with --resume becomes, to the byte, what it would have been; or the failure did not matter.

The places of the program that make such calls are listed by an undisturbed run. EVENTLOOM_INJECTIONS=N tries N places of each kind,
EVENTLOOM_INJECTIONS=all each of them.
"""

import collections
import concurrent.futures
import dataclasses
import filecmp
import os
import random
import re
import shutil

import pytest

from event_files import hit_lists, read_lmd_files
from inject import LIBRARY, Injected, crashed_in
from interrupted import STOPPED
from program import eventloom, generate
from results import assert_balanced, dropped, read_ledger

RANKS = 3
LIMIT = 10  # s until a run ends on a quiet machine
LONGEST = 120  # s, on any
MOST_NOT_REACHED = 0.25  # of the places of a kind: some are reached only when ranks wait for one another
EVERYTHING = os.environ.get("EVENTLOOM_INJECTIONS") == "all"
SAMPLE = 0 if EVERYTHING else int(os.environ.get("EVENTLOOM_INJECTIONS", 4))

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the library that injects failures is not built")

# Calls that are made in hundreds of places are tried on one rank per place, all others on every rank.
KINDS = {
    "memory": ("new", "malloc"),
    "exception": ("new",),
    "files": ("open", "fopen", "fopen64", "read", "pread", "pread64", "write", "writev", "mkdir", "unlink", "mmap"),
    "written": ("pwrite", "pwrite64", "fsync", "fdatasync", "ftruncate", "ftruncate64", "rename", "renameat2"),
    "hdf5": ("H5",),
    "mpi": ("MPI_",),
}
ON_ONE_RANK = ("memory", "exception")
READS = ("open", "fopen", "fopen64", "read", "pread", "pread64", "mmap")  # possible loss of input, which is counted


@dataclasses.dataclass(frozen=True)
class Failure:
    rank: int
    call: str
    site: str
    do: str = "fail"

    def order(self):
        order = {"rank": self.rank, "call": self.call, "do": self.do}
        return order if self.site == "" else order | {"site": self.site}


#: Lines that are neither information nor warnings.
ERROR = r"eventloom( run|, rank \d+ \(.*?\))?: (?!info|warning)"


def beside_parts(folder):
    """The events of the list-mode files."""
    return sorted(hits for path in folder.glob("ev*") for hits in hit_lists(read_lmd_files([path])))


class Campaign:
    """A small run, its undisturbed result, and the places where it can fail."""

    def __init__(self, folder):
        self.folder = folder
        uris = generate(folder / "rec", sources=3, rate=20_000, timing="gaussian", hits=6, width="200ns", noise=50_000,
                        duration="2ms", seed=5)
        sources = [word for uri in uris for word in ("--source", uri)]
        self.arguments = ["run", *sources, "--define", "gap:60,4", "--builders", 3, "--filters", 2, "--epochs-per-slice", 10,
                          "--segment-size", 10_000, "--also", "lmd:ev?size=64KiB", "--output", "run.h5"]
        undisturbed = folder / "undisturbed"
        undisturbed.mkdir()
        self.sites = self.run(undisturbed).sites
        self.not_reached = collections.Counter()
        self.merged = undisturbed / "merged.h5"
        self.beside = beside_parts(undisturbed)
        eventloom("merge", "run.h5", "--output", "merged.h5", cwd=undisturbed)

    def run(self, folder, **order):
        return Injected(self.arguments, folder, np=RANKS, timeout=LONGEST, cwd=folder, **order)

    def failures(self, kind):
        """All failures of a kind, by call, site and rank."""
        calls = KINDS[kind]
        ranks = collections.defaultdict(set)
        for rank, call, site in self.sites:
            if call in calls or (len(calls) == 1 and call.startswith(calls[0])):
                ranks[call, site].add(rank)
        found = []
        for n, ((call, site), there) in enumerate(sorted(ranks.items())):
            there = sorted(there)
            do = ("runtime_error", "int")[n % 4 == 3] if kind == "exception" else "fail"
            for rank in [there[n % len(there)]] if kind in ON_ONE_RANK else there:
                found.append(Failure(rank, call, site, do))
        return found

    def check(self, kind, number, failure):
        """The defect shown by this failure, or None."""
        folder = self.folder / f"case-{kind}-{number}"
        folder.mkdir()
        try:
            run = self.run(folder, **failure.order())
            self.not_reached[kind] += not run.happened
            self.assert_soon(run, folder)
            self.assert_right(run, failure, folder)
        except AssertionError as error:
            return f"{failure}\n{error}"
        shutil.rmtree(folder)
        return None

    def assert_soon(self, run, folder):
        """A busy machine shows in an undisturbed run, which takes less than a second on a quiet one."""
        if run.seconds > LIMIT:
            (folder / "undisturbed").mkdir()
            usual = self.run(folder / "undisturbed").seconds
            assert run.seconds < LIMIT + 3 * usual, f"it took {run.seconds:.1f} s, an undisturbed run then {usual:.1f} s\n{run.done.stderr}"

    def assert_right(self, run, failure, folder):
        assert run.happened or run.code == 0, f"exit code {run.code} without a failure\n{run.done.stderr}"
        if run.code == 3:
            assert failure.call in READS, f"exit code 3\n{run.done.stderr}"
            account = read_ledger(folder / "run.h5")
            assert_balanced(account)
            assert sum(dropped(account).values()) > 0, f"exit code 3 without a loss\n{run.done.stderr}"
            return
        if run.code != 0:
            self.assert_cause(run, failure)
            eventloom(*self.arguments, "--resume", cwd=folder)
        eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder)
        assert filecmp.cmp(folder / "merged.h5", self.merged, shallow=False), "another result"
        assert beside_parts(folder) == self.beside, "other events in the list-mode files"

    @staticmethod
    def assert_cause(run, failure):
        rank = failure.rank
        # Libraries crash when they find no memory or cannot read, and exceptions before main() cannot be caught: their
        # own messages report that.
        by_others = rf"An error occurred in MPI|Failed to allocate|exited on signal|\brank {rank}\b.* is lost"
        before_main = "terminate called" in run.done.stderr and "info: exchange" not in run.done.stderr
        of_libraries = failure.do == "fail" and failure.call in (*KINDS["memory"], "read")
        # nlohmann's JSON library destroys an object that it could not allocate.
        in_json = failure.do != "fail" and "nlohmann" in crashed_in(run.done.stderr)
        if (of_libraries or before_main or in_json) and re.search(by_others, run.done.stderr):
            return
        assert run.code in (1, 2, STOPPED), f"exit code {run.code}\n{run.done.stderr}"
        reported = [line for line in run.done.stderr.splitlines() if re.match(ERROR, line)]
        assert reported, f"no cause is reported\n{run.done.stderr}"
        if run.code == 1 and "info: exchange" in run.done.stderr:  # before that, the program may not know its rank
            assert any(re.search(rf"\brank {rank}\b", line) for line in reported), f"rank {rank} is not named\n{run.done.stderr}"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return Campaign(tmp_path_factory.mktemp("campaign"))


@pytest.mark.parametrize("kind", KINDS)
def test_any_call_may_fail_on_any_rank(campaign, kind):
    failures = campaign.failures(kind)
    assert failures, f"the run makes no calls of this kind; it makes {sorted({call for _, call, _ in campaign.sites})}"
    if not EVERYTHING:
        failures = random.Random(kind).sample(failures, min(SAMPLE, len(failures)))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [what for what in pool.map(lambda case: campaign.check(kind, *case), enumerate(failures)) if what is not None]
    print(f"{campaign.not_reached[kind]} of {len(failures)} places were not reached")
    assert campaign.not_reached[kind] <= MOST_NOT_REACHED * len(failures)
    assert not wrong, f"{len(wrong)} of {len(failures)} failures\n\n" + "\n\n".join(wrong[:10])
