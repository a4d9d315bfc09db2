"""A live run that follows what a recorder writes loses nothing when it dies: ranks and mpirun are killed at random moments,
jobs/keep_running.sh starts it again, and the merged file has the events of an undisturbed run. EVENTLOOM_KILLS=N: so many."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from statistics import median

from interrupted import gone, until
from live import merged
from program import BINARY, ROOT, Run, environment, generate
from results import assert_balanced, assert_same, read_ledger, read_merged

KILLS = int(os.environ.get("EVENTLOOM_KILLS", 6))
RANKS = 2
VICTIMS = (*range(RANKS), "mpirun")
OPTIONS = ["--define", "gap:25ns,4", "--epochs-per-slice", "4", "--epoch-timeout", "0"]
LIMIT = 60  # s until a killed run is back


def processes_in(folder):
    """{name or rank: process id} of mpirun and the ranks that work in a folder, and have a handler for signals."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") != str(folder):
                continue
            words = (entry / "cmdline").read_text().split("\0")
            env = (entry / "environ").read_text(errors="replace").split("\0")
            caught = int((entry / "status").read_text().split("SigCgt:")[1].split()[0], 16)
        except (OSError, IndexError):
            continue
        rank = [word.partition("=")[2] for word in env if word.startswith("OMPI_COMM_WORLD_RANK=")]
        if Path(words[0]).name in ("mpirun", "prterun"):  # what mpirun of Open MPI 5 becomes
            found["mpirun"] = int(entry.name)
        elif rank and words[0] == BINARY and caught >> (signal.SIGUSR1 - 1) & 1:
            found[int(rank[0])] = int(entry.name)
    return found


class KeptRunning:
    """A live run under keep_running.sh, of files that grow. The `with` ends it."""

    def __init__(self, folder, uris):
        self.folder, self.killed = folder, []  # process ids of the runs that have died
        self.downtimes = []  # s, from a kill until all ranks of the next run handle signals
        folder.mkdir()
        sources = [word for uri in uris for word in ("--source", uri)]
        command = [ROOT / "jobs/keep_running.sh", "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(RANKS), BINARY,
                   "run", *sources, *OPTIONS, "--segment-size", "1", "--resume", "--output", "run.h5"]
        env = environment() | {"LONGEST_PAUSE": "0", "MOST_RESTARTS": "1000"}
        self.errors = (folder / "stderr.txt").open("w+")
        self.process = subprocess.Popen(command, cwd=folder, env=env, stderr=self.errors, stdout=subprocess.DEVNULL,
                                        start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        for pid in processes_in(self.folder).values():
            os.kill(pid, signal.SIGKILL)
        self.process.wait(30)
        self.errors.close()

    def text(self):
        return Path(self.errors.name).read_text(errors="replace")

    def kill(self, victim):
        """Kills "mpirun" or a rank, once all are there again."""
        ranks = self.alive()
        os.kill(ranks[victim], signal.SIGKILL)
        began = time.monotonic()
        self.killed += ranks.values()
        until(lambda: all(gone(pid) for pid in ranks.values()), "all ranks gone", LIMIT, self.text)
        self.alive()
        self.downtimes.append(time.monotonic() - began)

    def alive(self):
        """mpirun and the ranks, once all are there again."""
        def all_there():
            assert self.process.poll() is None, f"ended with {self.process.returncode}\n{self.text()}"
            found = processes_in(self.folder)
            return found if len(found) == RANKS + 1 and not set(found.values()) & set(self.killed) else None
        return until(all_there, "a run with all its ranks", LIMIT, self.text)


def in_pieces(data, n, chance):
    cuts = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(n - 1))})
    return [data[a:b] for a, b in zip(cuts, cuts[1:])]


def test_random_kills_change_nothing(tmp_path):
    chance = random.Random(1)
    files = [Path(uri.removeprefix("file:")) for uri in generate(
        tmp_path / "streams", sources=2, rate=20_000, hits=6, noise=100_000, duration="20ms", seed=1)]
    live = tmp_path / "live"
    live.mkdir()
    grown = [live / f"source_00{k}.000000.epochs" for k in (0, 1)]
    expected = Run(tmp_path / "whole", [f"file:{file}" for file in files], *OPTIONS).merged
    pieces = [in_pieces(file.read_bytes(), KILLS + 1, chance) for file in files]
    n_pieces = max(map(len, pieces))
    with KeptRunning(tmp_path / "run", [f"file:{live}/source_00{k}.*.epochs?follow" for k in (0, 1)]) as run:
        for number in range(n_pieces):
            for path, of_file in zip(grown, pieces):
                if number < len(of_file):
                    with path.open("ab") as file:
                        file.write(of_file[number])
            if number < KILLS:
                run.kill(chance.choice(VICTIMS))
        for path in grown:
            (live / f"{path.name.partition('.')[0]}.end").touch()
        assert run.process.wait(LIMIT) == 0, run.text()
        reported = run.text()
    times = run.downtimes
    print(f"{len(times)} kills, without a run for {median(times):.2f} s (median), {max(times):.2f} s (most)")
    merged(run.folder)
    assert reported.count("the run has died") == min(n_pieces, KILLS) > 0
    assert_same(read_merged(run.folder / "merged.h5"), read_merged(expected))
    assert_balanced(read_ledger(run.folder / "merged.h5"))
