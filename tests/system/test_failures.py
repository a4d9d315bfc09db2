"""Whatever fails on one rank, in any phase: all ranks end at once, and the cause, the rank and the code are
reported."""

import os
import shutil
import signal
import socket
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest

from inject import Injected, failures_in, injecting
from interrupted import STOPPED, Started, gone, until
from program import BINARY, bounded, environment, eventloom, generate

DEFINE = ("--define", "gap:25ns,4")
HOST = socket.gethostname()


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording") / "rec"
    generate(folder, sources=3, duration="20ms", payload=1)
    return folder


def run_of(recording, folder):
    return ["run", "--source", f"file:{recording}/*.epochs", *DEFINE, "--output", folder / "run.h5"]


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("eventloom")]


# phase: what fails in it, how the run ends, and its message. A part that cannot be put on disk stops the run cleanly.
PHASES = {
    "open": (dict(call="open", path="source_00{rank}", error=13), 2, "source_00{rank}.epochs': Permission denied"),
    "set up": (dict(call="MPI_Allgatherv", at=11), 1, "MPI_Allgatherv: MPI_ERR_OTHER"),
    "agree": (dict(call="new", after="MPI_Allgatherv", at=30), 1, "no memory is left"),
    "wire": (dict(call="MPI_Win_allocate"), 1, "MPI_Win_allocate failed to allocate"),
    "first slice": (dict(call="MPI_Put"), 1, "MPI_Put: MPI_ERR_OTHER"),
    "build": (dict(call="new", after="MPI_Put", at=40, do="runtime_error"), 1, "an injected failure"),
    "no type": (dict(call="new", after="MPI_Put", at=20, do="int"), 1, "an exception of unknown type"),
    "write": (dict(call="H5Dset_extent"), 1, "HDF5: /"),
    "close": (dict(call="renameat2", path="part"), STOPPED, "Input/output error"),
    "end": (dict(call="new", after="renameat2", do="runtime_error"), 1, "an injected failure"),
}


def about(value, rank):
    return value.format(rank=rank) if isinstance(value, str) else value


@pytest.mark.parametrize("rank", range(3))
@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_on_each_rank(recording, tmp_path, phase, rank):
    order, code, cause = PHASES[phase]
    order = {key: about(value, rank) for key, value in order.items()}
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=3, rank=rank, timeout=30, **order)
    assert ended.happened, "the test does not reach its phase"
    assert ended.code == code, ended.done.stderr
    said = [line for line in lines_of(ended.done.stderr) if about(cause, rank) in line]
    assert len(said) == 1, ended.done.stderr
    if code != 2:
        assert f"rank {rank} " in said[0] and f" on {HOST}: " in said[0], said
    if code == 1:
        causes = [line for line in lines_of(ended.done.stderr) if line.startswith("eventloom run: ")]
        assert causes == said and causes[0].startswith(f"eventloom run: rank {rank} on {HOST}: "), ended.done.stderr


def test_threads_of_a_builder(recording, tmp_path):
    order = dict(rank=1, call="new", after="MPI_Put", at=60)
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=2, omp=2, timeout=30, **order)
    assert ended.happened and ended.code == 1, ended.done.stderr
    assert f"rank 1 on {HOST}" in ended.done.stderr and "no memory is left" in ended.done.stderr, ended.done.stderr
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
    # Sources may have any name; outputs are listed in files that support UTF-8 only.
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
    """The mpirun of Open MPI 5.0.7 crashes when it is given two commands."""
    one, other = (shlex.join([str(BINARY), "run", *map(str, words)]) for words in (first, second))
    by_rank = f"if [ $OMPI_COMM_WORLD_RANK = 0 ]; then exec {one}; else exec {other}; fi"
    return bounded(["mpirun", "--oversubscribe", "-np", "2", "sh", "-c", by_rank], env=environment(), timeout=30, code=2)


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
    assert "mpiexec has started 3 processes, but MPI sees each of them as a single rank" in done.stderr
    done = bounded(command, env=foreign | {"PMI_RANK": "1"}, timeout=30, code=2)
    assert not lines_of(done.stderr), "one of the processes says it"
    assert not (tmp_path / "run.h5").exists()
    batch = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_TASK_PID": str(os.getpid())}
    bounded(command, env=environment() | batch, timeout=60, code=0)


def test_an_mpi_without_threads(recording, tmp_path):
    ended = Injected(run_of(recording, tmp_path), tmp_path, np=2, rank=1, timeout=30, call="MPI_Init_thread")
    assert ended.happened and ended.code == 2 and "MPI_THREAD_FUNNELED" in ended.done.stderr, ended.done.stderr


@pytest.mark.parametrize("options", [("--builders", "100000"), ("--filters", "100000"),
                                     ("--builders", "100000", "--cell-size", "512MiB"),
                                     ("--filters", "100000", "--cell-size", "512MiB"),
                                     ("--builders", "100000", "--filters", "100000"),
                                     ("--builders", "100000", "--schedule", "balanced", "--cell-size", "512MiB")])
def test_rings_that_do_not_fit(recording, tmp_path, options):
    for launcher in ([], ["mpirun", "--oversubscribe", "-np", "2"]):
        with (tmp_path / "told.txt").open("w") as told:
            process = subprocess.Popen(["timeout", "-k", "5", "60", *launcher, BINARY, *map(str, run_of(recording, tmp_path)), *options],
                                       env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        text = (tmp_path / "told.txt").read_text()
        said = [line for line in lines_of(text) if line.startswith("eventloom run: ")]
        assert process.returncode == 2 and len(said) == 1 and " need " in said[0], text
        assert options[0] in said[0].partition(": lower ")[2], text
        assert usage.ru_maxrss < 1024 * 1024, "kilobytes of the largest process"


def test_a_limit_of_the_address_space(recording, tmp_path):
    words = " ".join(f"'{word}'" for word in [BINARY, *run_of(recording, tmp_path), "--builders", "64",
                                              "--cell-size", "8MiB", "--ring-depth", "8"])
    done = bounded(["bash", "-c", f"ulimit -v 3000000; exec {words}"], env=environment(), timeout=60, code=2)
    assert "ulimit -v" in done.stderr and "lower --builders" in done.stderr, done.stderr


def test_memory_that_runs_out_on_the_way(tmp_path):
    """The address space holds the rings, but not all slices in flight."""
    uris = generate(tmp_path / "rec", sources=2, rate=100_000, hits=8, duration="300ms", noise=4_000_000)
    words = ["run", *[word for uri in uris for word in ("--source", uri)], *DEFINE, "--epochs-per-slice", "30000",
             "--output", tmp_path / "run.h5"]
    ends = {}
    for mib in range(200, 1200, 50):
        text = " ".join(f"'{word}'" for word in [BINARY, *words])
        done = subprocess.run(["timeout", "30", "bash", "-c", f"ulimit -v {mib << 10}; exec {text}"], env=environment(),
                              capture_output=True, text=True, check=False)
        ends[mib] = done.returncode
        if done.returncode == 0:
            break
        if done.returncode == 1 and "PML ucx cannot be selected" in done.stderr:
            continue  # MPI lacks the memory to start, and says so itself
        assert done.returncode in (1, 2) and lines_of(done.stderr), (mib, done.returncode, done.stderr)
        named = "no memory is left" in done.stderr or "MPI_Win_allocate failed to allocate" in done.stderr
        assert done.returncode == 2 or named and "--epochs-per-slice" in done.stderr, done.stderr
    assert 1 in ends.values(), f"no limit lets the run begin and not end: {ends}"


def as_nobody(folder):
    """How to start a program as a user who may only read in `folder`; skips where that is not possible."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        return []
    launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if shutil.which("setpriv") is None or subprocess.run([*launcher, BINARY, "--help"], capture_output=True).returncode:
        pytest.skip("no program can be run by another user here")
    return launcher


@pytest.mark.parametrize("np", [None, 2])
def test_a_folder_without_permission(recording, np):
    with tempfile.TemporaryDirectory(prefix="eventloom-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(recording, folder / "rec")
        (folder / "out").mkdir()
        launcher = as_nobody(folder / "out") + (["mpirun", "--oversubscribe", "-np", str(np)] if np else [])
        env = environment() | {"OMPI_MCA_orte_tmpdir_base": tempfile.gettempdir()}
        done = bounded([*launcher, BINARY, *map(str, run_of("rec", Path("out")))], env=env, timeout=30, code=2, cwd=folder)
        assert "Permission denied" in done.stderr and "out" in done.stderr, done.stderr
        assert not list((folder / "out").iterdir())


# Where each command waits forever, and the effect of a signal.
STUCK = {
    "run": (["run", "--source", "{rec}/source_000.epochs", *DEFINE, "--output", "run.h5"], "source_000", STOPPED),
    "convert": (["convert", "{rec}/source_000.epochs", "--output", "copy.epochs"], "source_000", -signal.SIGTERM),
    "generate": (["generate", "--output", "new", "--duration", "1ms"], "source_000", -signal.SIGTERM),
    "merge": (["merge", "run.h5", "--output", "merged.h5"], "part", -signal.SIGTERM),
}


@pytest.mark.parametrize("command", STUCK)
def test_a_signal_while_something_never_ends(recording, tmp_path, command):
    words, path, code = STUCK[command]
    if command == "merge":
        eventloom(*run_of(recording, tmp_path))
    log = tmp_path / "log"
    env = injecting(log, call="open", path=path, do="wait")
    with Started(tmp_path, *[word.format(rec=recording) for word in words], env=env) as started:
        until(lambda: failures_in(log) or started.process.poll() is not None, "a call that takes for ever", 30, started.text)
        started.process.send_signal(signal.SIGTERM)
        said = started.wait(code, 20)
    assert code != STOPPED or "before the first slice" in said


# The call in which one of two ranks stays when a signal arrives: the other does not wait for it.
MOMENTS = {
    "windows": dict(call="MPI_Win_allocate"),
    "first put": dict(call="MPI_Put"),
    "a part's end": dict(call="H5Fclose"),
}


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_at_any_time(recording, tmp_path, moment, rank):
    log = tmp_path / "log"
    env = injecting(log, rank=rank, do="wait", **MOMENTS[moment])
    with Started(tmp_path, *run_of(recording, tmp_path), np=2, env=env) as started:
        until(lambda: failures_in(log), "the call", 30, started.text)
        pids = list(started.ranks().values()) if moment != "windows" else []
        started.process.send_signal(signal.SIGTERM)
        started.process.wait(30)
        assert started.process.returncode != 0, started.text()
        until(lambda: all(map(gone, pids)), "all ranks gone", 10, started.text)
