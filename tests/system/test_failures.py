"""Whatever fails on one rank, in whatever phase: all ranks end at once, and the cause, the rank and the code are said."""

import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

from inject import Injected, environment_of
from program import BINARY, bounded, environment, eventloom, generate

DEFINE = ("--define", "gap:25ns,4")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording") / "rec"
    generate(folder, sources=3, duration="20ms", payload=1)
    return folder


def run_of(recording, folder):
    return ["run", "--source", f"{recording}/*.epochs", *DEFINE, "--output", folder / "run.h5"]


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("eventloom")]


# phase: what fails in it, and how the run ends. A part that cannot be put on disk stops the run in good order.
PHASES = {
    "open": (dict(call="open", path="source_00{rank}", error=13), 2),
    "set up": (dict(call="MPI_Allgather", at=8), 1),
    "agree": (dict(call="new", after="MPI_Allgather", at=30), 1),
    "wire": (dict(call="MPI_Win_allocate"), 1),
    "first slice": (dict(call="MPI_Put"), 1),
    "build": (dict(call="new", after="MPI_Put", at=40, do="runtime_error"), 1),
    "no type": (dict(call="new", after="MPI_Put", at=20, do="int"), 1),
    "write": (dict(call="H5Dset_extent"), 1),
    "close": (dict(call="rename", path="part"), 75),
    "end": (dict(call="new", after="rename", do="runtime_error"), 1),
}


@pytest.mark.parametrize("rank", range(3))
@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_on_each_rank(recording, tmp_path, phase, rank):
    order, code = PHASES[phase]
    order = {key: value.format(rank=rank) if isinstance(value, str) else value for key, value in order.items()}
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=3, rank=rank, timeout=30, **order)
    assert ended.happened, "the test does not reach its phase"
    assert ended.code == code, ended.done.stderr
    said = lines_of(ended.done.stderr)
    if code == 1:
        causes = [line for line in said if line.startswith("eventloom run: ")]
        assert len(causes) == 1, ended.done.stderr
        assert causes[0].startswith(f"eventloom run: rank {rank} on "), causes
    else:
        assert any("source_00" in line or "part" in line for line in said), ended.done.stderr


def test_threads_of_a_builder(recording, tmp_path):
    order = dict(rank=1, call="new", after="MPI_Put", at=60)
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=2, omp=2, timeout=30, **order)
    assert ended.happened and ended.code == 1, ended.done.stderr
    assert "rank 1 on" in ended.done.stderr and "no memory is left" in ended.done.stderr, ended.done.stderr
    assert "--slices-in-flight" in ended.done.stderr


def test_a_rank_that_is_gone(recording, tmp_path):
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=3, rank=2, timeout=30, call="MPI_Put", do="kill")
    assert ended.happened and ended.code != 0


def test_merge_without_memory(recording, tmp_path):
    eventloom(*run_of(recording, tmp_path))
    ended = Injected(["merge", tmp_path / "run.h5"], tmp_path, call="new", after="H5Fcreate", at=3)
    assert ended.happened and ended.code == 1, ended.done.stderr
    assert "eventloom merge: no memory is left" in ended.done.stderr
    eventloom("merge", tmp_path / "run.h5", "--force")


def test_names(recording, tmp_path):
    done = eventloom(*run_of(recording, tmp_path / ("long" * 80)), np=3, code=2, timeout=30)
    assert "File name too long" in done.stderr, done.stderr
    # Sources may have any name, outputs are listed in files that know UTF-8 alone.
    odd = os.fsencode(tmp_path) + b"/\xff\xfe.epochs"
    shutil.copy(recording / "source_000.epochs", odd)
    for np in (1, 2):
        command = ["mpirun", "--oversubscribe", "-np", str(np), BINARY, "run", "--source", odd, *DEFINE, "--output",
                   tmp_path / f"run{np}.h5", "--report-json", tmp_path / "report.json"]
        done = subprocess.run(command, env=environment(), capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([BINARY, "run", "--source", odd, *DEFINE, "--output", odd + b".h5"], env=environment(),
                          capture_output=True, timeout=60)
    assert done.returncode == 2 and b"is not UTF-8" in done.stderr, done.stderr


def different_ranks(first, second):
    start = ["-np", "1", BINARY, "run"]
    return bounded(["mpirun", "--oversubscribe", *start, *map(str, first), ":", *start, *map(str, second)],
                   env=environment(), timeout=30, code=2)


def test_ranks_that_were_given_different_things(recording, tmp_path):
    _, *given = run_of(recording, tmp_path)
    other = [word.replace("25ns", "50ns") if isinstance(word, str) else word for word in given]
    done = different_ranks(given, other)
    assert "--define is 'gap:25ns,4' on rank 0 and 'gap:50ns,4' on rank 1" in done.stderr, done.stderr
    done = different_ranks(given, [*given, "--no-such-option"])
    assert "rank 1: unrecognised option '--no-such-option'" in done.stderr, done.stderr
    done = different_ranks([*given, "--builders", "many"], given)
    assert "rank 0: --builders" in done.stderr, done.stderr
    assert not (tmp_path / "run.h5").exists()


def test_launchers_of_another_mpi(recording, tmp_path):
    foreign = environment() | {"PMI_RANK": "0", "PMI_SIZE": "3", "MPI_LOCALNRANKS": "3"}
    command = [BINARY, *map(str, run_of(recording, tmp_path))]
    done = bounded(command, env=foreign, timeout=30, code=2)
    assert "mpiexec has started 3 processes, but for MPI each of them is alone" in done.stderr
    done = bounded(command, env=foreign | {"PMI_RANK": "1"}, timeout=30, code=2)
    assert not lines_of(done.stderr), "one of the processes says it"
    assert not (tmp_path / "run.h5").exists()
    batch = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_TASK_PID": str(os.getpid())}
    bounded(command, env=environment() | batch, timeout=60, code=0)


def test_an_mpi_without_threads(recording, tmp_path):
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=2, rank=1, timeout=30, call="MPI_Init_thread")
    assert ended.happened and ended.code == 2 and "MPI_THREAD_FUNNELED" in ended.done.stderr, ended.done.stderr


@pytest.mark.parametrize("options", [("--builders", "100000", "--cell-size", "512MiB"),
                                     ("--filters", "100000", "--cell-size", "512MiB"),
                                     ("--builders", "100000", "--filters", "100000"),
                                     ("--builders", "100000", "--schedule", "balanced", "--cell-size", "512MiB")])
def test_rings_that_do_not_fit(recording, tmp_path, options):
    for np in (None, 2):
        done = eventloom(*run_of(recording, tmp_path), *options, np=np, code=2, timeout=60)
        said = [line for line in lines_of(done.stderr) if line.startswith("eventloom run: ")]
        assert len(said) == 1 and " need " in said[0], done.stderr
        assert options[0] in said[0].partition(": lower ")[2], done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1024 * 1024, "kilobytes of the largest child"


def test_a_limit_of_the_address_space(recording, tmp_path):
    words = " ".join(f"'{word}'" for word in [BINARY, *run_of(recording, tmp_path), "--builders", "64",
                                              "--cell-size", "8MiB"])
    done = bounded(["bash", "-c", f"ulimit -v 3000000; exec {words}"], env=environment(), timeout=60, code=2)
    assert "ulimit -v" in done.stderr and "lower --builders" in done.stderr, done.stderr


# Where each command waits for ever, and what a signal makes of it.
STUCK = {
    "run": (["run", "--source", "{rec}/source_000.epochs", *DEFINE, "--output", "run.h5"], "source_000", 75),
    "convert": (["convert", "{rec}/source_000.epochs", "--output", "copy.epochs"], "source_000", -signal.SIGTERM),
    "generate": (["generate", "--output", "new", "--duration", "1ms"], "source_000", -signal.SIGTERM),
    "merge": (["merge", "run.h5", "--output", "merged.h5"], "part", -signal.SIGTERM),
}


@pytest.mark.parametrize("command", STUCK)
def test_a_signal_while_something_takes_for_ever(recording, tmp_path, command):
    words, path, code = STUCK[command]
    if command == "merge":
        eventloom(*run_of(recording, tmp_path))
    env = environment_of(tmp_path / "log", call="open", path=path, do="wait")
    program = subprocess.Popen([BINARY, *[word.format(rec=recording) for word in words]], env=env, cwd=tmp_path,
                               stderr=subprocess.PIPE, text=True)
    try:
        while "fails" not in ((tmp_path / "log").read_text() if (tmp_path / "log").exists() else ""):
            assert program.poll() is None, program.stderr.read()
            time.sleep(0.01)
        program.send_signal(signal.SIGTERM)
        _, said = program.communicate(timeout=20)
    finally:
        program.kill()
    assert program.returncode == code, said
    assert code != 75 or "before the first slice" in said
