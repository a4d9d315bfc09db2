"""Ranks that are silent, stuck or lost are reported by name, and the run waits or ends as requested: it never hangs silently."""

import contextlib
import os
import re
import signal
import socket
import tempfile
import time
from pathlib import Path

import pytest

from interrupted import STOPPED, content, gone, lines_with, until
from program import eventloom, generate
from test_resume import Job

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
HOST = socket.gethostname().split(".")[0]
# Roles of sources 0 to 3 and of one builder per rank, by number of ranks.
ROLES = {2: ["sources 0,2; builder 0", "sources 1,3; builder 1"],
         3: ["sources 0,3; builder 2", "source 1; builder 0", "source 2; builder 1"]}
OPTIONS = ["--define", "gap:25ns,4", "--epochs-per-slice", "100"]
LASTING = ["--segment-size", "1", "--speed", "0.001"]  # 100 s
SOON = ["--stall-warning", "300ms"]
GENEROUS = 20  # s, for actions that should take one or two


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), sources=4, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=100_000, duration="100ms", seed=4)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, recording):
    """Contents of the merged file, except which builder built what and the setup."""
    job = Job(tmp_path_factory.mktemp("undisturbed"), recording, *OPTIONS)
    job.run()
    return result(job)


def result(job):
    found = content(job.merged())
    return {name: value for name, value in found.items() if name not in ("@setup", "ledger/builder")}


@pytest.fixture
def folder():
    """A folder in memory, where no disk makes ranks wait."""
    with tempfile.TemporaryDirectory(prefix="eventloom-stalls-", dir=MEMORY) as place:
        yield Path(place)


@contextlib.contextmanager
def held(pid):
    """The process is stopped, as by a debugger or a suspended machine."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def blamed(text):
    """Numbers of the ranks reported stopped, lost, or silent for too long; the reporting ranks do not count."""
    lines = [line for line in text.splitlines() if re.search(r"been stopped|(is|was) lost|--stall-timeout", line)]
    said = [re.sub(r"^eventloom, rank \d+ \(.*?\): ", "", line) for line in lines]
    return {int(number) for line in said for number in re.findall(r"\brank (\d+) \(", line)}


@pytest.mark.parametrize("np, rank, env", [(2, 0, {}), (2, 1, {}), (3, 2, {}), (2, 1, {"UCX_TLS": "tcp,self"})])
def test_a_stopped_rank_is_named_and_waited_for(folder, recording, undisturbed, np, rank, env):
    job = Job(folder, recording, *OPTIONS, *SOON, np=np, env=env)
    with job.start("--speed", "0.04", "--segment-size", "1") as started:  # 2.5 s
        started.until_parts(2)
        with held(started.ranks()[rank]):
            line = started.until_reported(f"rank {rank} (", "stopped", timeout=GENEROUS)
            assert f"rank {rank} ({ROLES[np][rank]}) on {HOST}" in line, line
            assert started.process.poll() is None
        text = started.wait(0)
    assert blamed(text) == {rank}, text
    assert result(job) == undisturbed


@pytest.mark.parametrize("np, rank, env", [(2, 0, {}), (3, 1, {}), (2, 1, {"UCX_TLS": "tcp,self"})])
def test_the_run_ends_when_it_shall_not_wait(folder, recording, undisturbed, np, rank, env):
    job = Job(folder, recording, *OPTIONS, *SOON, np=np, env=env)
    with job.start(*LASTING, "--stall-timeout", "1s") as started:
        started.until_parts(2)
        ranks = started.ranks()
        with held(ranks[rank]):
            text = started.wait(STOPPED, GENEROUS)
        until(lambda: all(map(gone, ranks.values())), "the end of all ranks", GENEROUS)
    assert lines_with(text, f"rank {rank} ({ROLES[np][rank]}) on {HOST}", "--stall-timeout", "--resume"), text
    assert blamed(text) == {rank}, text
    job.resume()
    assert result(job) == undisturbed


@pytest.mark.parametrize("np, rank", [(2, 0), (3, 0), (3, 1), (3, 2)])
def test_a_killed_rank_is_named_and_the_others_end(folder, recording, undisturbed, np, rank):
    job = Job(folder, recording, *OPTIONS, np=np)
    with job.start(*LASTING) as started:
        started.until_parts(2)
        ranks = started.ranks()
        started.send(signal.SIGKILL, rank)
        until(lambda: started.process.poll() is not None and all(map(gone, ranks.values())), "the end of all ranks", GENEROUS)
        text = started.text()
    assert started.process.returncode != 0
    lines = lines_with(text, "eventloom", "--resume")
    assert len(lines) == 1 and f"rank {rank} ({ROLES[np][rank]}) on {HOST}" in lines[0], text
    assert blamed(text) == {rank}, text
    if rank == np - 1:
        job.resume()
        assert result(job) == undisturbed


def test_a_rank_that_is_held_and_a_stop(folder, recording, undisturbed):
    """The stop waits for the held rank, reports that, and completes when the rank continues."""
    job = Job(folder, recording, *OPTIONS, *SOON, np=2)
    with job.start(*LASTING) as started:
        started.until_parts(2)
        with held(started.ranks()[1]):
            started.send(signal.SIGUSR1, 0)
            started.until_reported("rank 1 (", "stopped", timeout=GENEROUS)
            assert started.process.poll() is None
        text = started.wait(STOPPED, GENEROUS)
    assert lines_with(text, "SIGUSR1", "cleanly"), text
    job.resume()
    assert result(job) == undisturbed


def test_a_healthy_run_says_nothing(folder, recording):
    """Slices are farther apart than the warning time: sources that wait for their time are not stuck."""
    slices = ["--epochs-per-slice", "2500", "--speed", "0.03"]  # 4 slices, 0.8 s each
    job = Job(folder, recording, "--define", "gap:25ns,4", *slices, "--stall-warning", "600ms", "--stall-timeout", "3s", np=3)
    begin = time.monotonic()
    text = job.run()
    assert time.monotonic() - begin > 2, "too quick to show anything"
    of_cores = lines_with(text, "warning", "eventloom doctor")  # on machines with fewer cores than ranks
    assert lines_with(text, "warning") == of_cores and not lines_with(text, "error"), text


@pytest.mark.parametrize("option", ["--stall-warning", "--stall-timeout"])
def test_lengths_that_are_none(tmp_path, recording, option):
    done = eventloom("run", "--source", recording[0], *OPTIONS, "--output", tmp_path / "run.h5", option, "soon", code=2)
    assert len(done.stderr.splitlines()) == 1 and option in done.stderr
    assert not list(tmp_path.iterdir())
