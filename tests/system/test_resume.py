"""Stopping cleanly and continuing: an interrupted and resumed run gives the undisturbed run's files, byte for byte."""

import contextlib
import filecmp
import json
import os
import shutil
import signal
import struct
import subprocess

import h5py
import numpy as np
import pytest

from interrupted import STOPPED, Started, content, lines_with, lists, parts, state, until
from lmd_reference import Event, Subevent, white_rabbit
from live import HOST, LiveRun
from mbs import Layout, Server
from program import BINARY, DATA, bounded, environment, eventloom, generate
from recordings import write_csv
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

TERM, INT, USR1 = signal.SIGTERM, signal.SIGINT, signal.SIGUSR1
# 40 slices of 2.5 ms; with SLOW two seconds in all, and a part for each.
DEFINITION = ["--define", "gap:25ns,4"]
SLICED = [*DEFINITION, "--epochs-per-slice", "250"]
SLOW = ["--speed", "0.05", "--segment-size", "1"]
N_SLICES = 40
RECORDING = {"sources": 4, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 500_000,
             "duration": "100ms", "payload": 1, "seed": 3}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: file systems of a chosen size need root")


class Job:
    """One command, given repeatedly in one folder."""

    def __init__(self, folder, sources, *options, np=None, env=None):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.np, self.env = folder, np, env
        uris = [word for uri in sources for word in ("--source", uri)]
        self.words = ["run", *uris, *options, "--output", "run.h5"]

    def start(self, *more, **launch):
        return Started(self.folder, *self.words, *more, np=self.np, env=self.env, **launch)

    def run(self, *more, code=0):
        with self.start(*more) as started:
            return started.wait(code)

    def stop(self, *more, at_parts=4, number=TERM, rank=0):
        """Runs slowly until that many parts are finished, then stops it; returns its messages."""
        with self.start(*SLOW, *more) as started:
            started.until_parts(at_parts)
            started.send(number, rank)
            return started.wait(STOPPED)

    def resume(self, *more, code=0):
        return self.run("--resume", *more, code=code)

    def merged(self):
        """The merged file, made at the first access."""
        if not (self.folder / "merged.h5").exists():
            eventloom("merge", "run.h5", "--output", "merged.h5", cwd=self.folder)
        return self.folder / "merged.h5"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Four streams of 100 ms, 220,000 hits."""
    return generate(tmp_path_factory.mktemp("recording"), **RECORDING)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The job of a command that has run without interruption, once per command."""
    known = {}

    def job(sources, *options, np=None, code=0):
        key = (*sources, *options, np)
        if key not in known:
            known[key] = Job(tmp_path_factory.mktemp("undisturbed"), sources, *options, np=np)
            known[key].run(code=code)
        return known[key]

    return job


def beside_its_sources(folder, recording):
    job = Job(folder, ["in/*.epochs"], *SLICED)
    (folder / "in").mkdir()
    for uri in recording:
        shutil.copy(uri.removeprefix("file:"), folder / "in")
    return job


@pytest.fixture(scope="module")
def complete(tmp_path_factory, recording):
    """The expected result of the copies of `interrupted`."""
    job = beside_its_sources(tmp_path_factory.mktemp("complete"), recording)
    job.run()
    return job


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, recording):
    """Makes a copy of a stopped run, beside its sources in/*.epochs."""
    original = beside_its_sources(tmp_path_factory.mktemp("interrupted"), recording)
    original.stop(at_parts=8)

    def copy(folder, sources=("in/*.epochs",), options=SLICED, np=None):
        shutil.copytree(original.folder, folder, dirs_exist_ok=True)
        return Job(folder, sources, *options, np=np)

    return copy


IN_PASSING = ["speed", "segment-size"]  # what SLOW sets


def assert_same_result(job, reference, without=()):
    """Compares the merged file, except SLOW's options in the setup, and what is in `without`."""
    expected, found = (content(j.merged(), IN_PASSING) for j in (reference, job))
    different = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
    sums = {sum_of for name in without if not name.startswith("@") for sum_of in ("@datasets", f"{name}@crc32")}
    assert set(different) <= sums | set(without), different


def assert_kept(before, folder):
    """The parts of an earlier state() have not been touched since."""
    now = state(folder)
    changed = [name for name in before if "part-" in name and name.endswith(".h5") and now.get(name) != before[name]]
    assert not changed, "finished, and rewritten or gone"


def assert_only_results(folder):
    """A run that has ended leaves only run.h5 and the parts that it lists."""
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["closed"] == 1
        listed = {name.decode() for name in file["parts/name"][:]}
    assert {path.name for path in folder.glob("run.*")} == {"run.h5", *listed}


def attributes(path):
    """Attributes of run.h5 as written, except those of its invocations; its ledger, its sources. The checksums in
    `datasets` are those of data compared anyway, and of how the time was spent."""
    found = content(path, IN_PASSING)
    own = {"@began", "@ended", "@command_lines", "@datasets"}
    return {name: value for name, value in found.items() if name.startswith(("@", "ledger/", "sources/")) and name not in own}


# Stopping cleanly, and continuing.

def test_what_a_stopped_run_leaves(tmp_path, recording):
    job = Job(tmp_path, recording, *SLICED, "--report-json", "report.json")
    reported = job.stop(number=USR1)
    assert lines_with(reported, "SIGUSR1", "rank 0") and lines_with(reported, "--resume")
    finished = parts(tmp_path)
    assert 4 <= len(finished) < N_SLICES and len(lists(tmp_path)) == 1
    assert {path.name for path in tmp_path.glob("run.*")} == {"run.h5", lists(tmp_path)[0].name, *(p.name for p in finished)}
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["closed"] == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["exit_code"] == STOPPED
    slices = [read_ledger(path)["slice"].tolist() for path in finished]
    assert sum(slices, []) == list(range(len(finished))), "the slices before the stop, each once"
    for path in finished:
        assert_balanced(read_ledger(path))
    assert report["totals"]["slices"] == len(finished)
    done = eventloom("merge", "run.h5", code=2, cwd=tmp_path)
    assert len(done.stderr.splitlines()) == 1 and "--resume" in done.stderr
    assert not list(tmp_path.glob("*merged*"))


@pytest.mark.parametrize("number, rank, np, options", [
    pytest.param(INT, 0, None, [], id="INT-alone"),
    pytest.param(USR1, 1, 2, [], id="USR1-rank1of2"),
    pytest.param(TERM, 0, 2, ["--filters", "2", "--filter", "n_hits>=6"], id="TERM-rank0of2-filters"),
    pytest.param(INT, 3, 4, ["--builders", "2"], id="INT-rank3of4"),
    pytest.param(TERM, 1, 3, ["--schedule", "chaotic", "--filters", "1", "--builders", "5"], id="TERM-rank1of3-chaotic"),
    pytest.param(USR1, 1, 2, ["--schedule", "balanced"], id="USR1-rank1of2-balanced"),
    pytest.param(USR1, 0, 2, ["--slot", "1ms"], id="USR1-rank0of2-slot"),
])
def test_stopped_and_resumed(tmp_path, recording, undisturbed, number, rank, np, options):
    job = Job(tmp_path, recording, *SLICED, *options, np=np)
    reported = job.stop(number=number, rank=rank)
    assert lines_with(reported, signal.Signals(number).name, f"rank {rank} "), reported
    before = state(tmp_path)
    job.resume()
    assert_kept(before, tmp_path)
    assert_only_results(tmp_path)
    # Which builder claimed which slice is chance.
    assert_same_result(job, undisturbed(recording, *SLICED, *options, np=np),
                       {"ledger/builder"} if "balanced" in options else ())


def test_table_schedule(tmp_path, recording, undisturbed):
    table = tmp_path / "table.csv"
    table.write_text("".join(f"0,0,{source},{builder}\n" for source in range(4) for builder in (0, 1, 1)))
    options = [*SLICED, "--schedule", f"table:{table}", "--builders", "2"]
    job = Job(tmp_path / "run", recording, *options)
    job.stop()
    job.resume()
    assert_same_result(job, undisturbed(recording, *options))


def test_the_same_command_gives_the_same_bytes(tmp_path, recording, undisturbed):
    """USR1 to mpirun, repeatedly, until the run is complete; run.h5 states the same as without interruption."""
    options = [*DEFINITION, "--epochs-per-slice", "500", *SLOW]
    expected = undisturbed(recording, *options, np=2)
    job = Job(tmp_path, recording, *options, np=2)
    n_parts = 0
    for at in (3, 8):
        with job.start("--resume") as started:
            started.until_parts(max(at, n_parts + 1))
            started.process.send_signal(USR1)
            started.wait(STOPPED)
        n_parts = len(parts(tmp_path))
    job.resume()
    assert filecmp.cmp(job.merged(), expected.merged(), shallow=False)
    with h5py.File(tmp_path / "run.h5") as file:
        assert [path.decode() for path in file["invocations/folder"]] == 3 * [str(tmp_path)] and len(file.attrs["command_lines"]) == 3
    assert attributes(tmp_path / "run.h5") == attributes(expected.folder / "run.h5")
    assert_only_results(tmp_path)


def test_signals_on_top_of_signals(tmp_path, recording, undisturbed):
    """More signals, to all ranks, while it is stopping."""
    job = Job(tmp_path, recording, *SLICED, np=2)
    with job.start(*SLOW) as started:
        started.until_parts(3)
        for number in (USR1, USR1):
            started.send(number, 1)
            started.process.send_signal(number)
        started.until_reported("stopping cleanly")
        started.process.send_signal(USR1)
        reported = started.wait(STOPPED)
    assert len(lines_with(reported, "stopping cleanly")) == 1
    job.resume()
    assert_same_result(job, undisturbed(recording, *SLICED, np=2))


@pytest.mark.parametrize("np", [None, 2])
def test_stop_before_the_first_slice(tmp_path, recording, undisturbed, np):
    """The signal comes as soon as the program handles it. More builders than there will ever be slices."""
    options = [*DEFINITION, "--epochs-per-slice", "5000", "--builders", "4"]
    job = Job(tmp_path, recording, *options, np=np)
    with job.start("--speed", "0.02") as started:
        started.send(USR1, (np or 1) - 1)
        started.wait(STOPPED)
    assert all(path.stat().st_size > 0 for path in parts(tmp_path))
    job.resume()
    assert_only_results(tmp_path)
    assert_same_result(job, undisturbed(recording, *options, np=np))


def test_stop_at_the_very_end(tmp_path, recording, undisturbed):
    """All slices are finished, and so is the run."""
    job = Job(tmp_path, recording, *SLICED)
    with job.start(*SLOW) as started:
        until(lambda: sum(len(p.read_text().splitlines()) - 1 for p in lists(tmp_path)) >= N_SLICES or
              started.process.poll() is not None, "all slices in the list")
        with contextlib.suppress(ProcessLookupError):
            os.kill(started.process.pid, USR1)
        started.wait(0)
    assert_only_results(tmp_path)
    assert_same_result(job, undisturbed(recording, *SLICED))


def test_killed_with_a_scratch_folder(tmp_path, recording, undisturbed):
    """kill -9: after the resume, no unfinished file is left, here or in the scratch folder."""
    job = Job(tmp_path, recording, *SLICED, "--scratch", "scratch")
    with job.start(*SLOW[:-1], "20000") as started:  # some slices in a part
        started.until_parts(3)
        until(lambda: list(tmp_path.glob("scratch/*/*")), "a part in the making")
        started.send(signal.SIGKILL, 0)
        started.wait(-signal.SIGKILL)
    assert list(tmp_path.glob("scratch/*/*"))
    before = state(tmp_path)
    job.resume()
    assert_kept(before, tmp_path)
    assert not [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert_only_results(tmp_path)
    assert_same_result(job, undisturbed(recording, *SLICED), {"@setup"})


def test_killed_before_its_first_part(tmp_path, recording, undisturbed):
    job = Job(tmp_path, recording, *SLICED)
    with job.start(*SLOW[:2]) as started:
        until(lambda: (tmp_path / "run.h5").exists(), "the run has begun")
        started.send(signal.SIGKILL, 0)
        started.wait(-signal.SIGKILL)
    assert lines_with(job.resume(), "nothing of it is finished, so that it is built from the beginning")
    assert_same_result(job, undisturbed(recording, *SLICED), {"@setup"})


# Inputs that are read from their start, and damaged ones.

def by_number(kind, path, events):
    """Events of 1 KB with ascending numbers, like those of test_memory.py."""
    start, first = {
        "lmd": (struct.pack("<IhhhhIIhhI", 508, 10, 1, 0, 1, 0, 500, 10, 1, 7),
                struct.pack("<12I", 0x7FFFFFF4, 0x00010065, 0, 0, 0xFFFFFFFF, 8, 0, 0, 1, 1, 0, 0)),
        "hld": (struct.pack("<8I4I", 1024, 0x30001, 0x2001, 0, 0, 0, 1, 0, 992, 0x20011, 0x8000, 0),
                struct.pack("<8I", 32, 0x30001, 0x10002, 0, 0, 0, 1, 0))}[kind]
    table = np.zeros((events, 256), dtype="<u4")
    table[:, :len(start) // 4] = np.frombuffer(start, "<u4")
    table[:, 3] = np.arange(1, events + 1)
    path.write_bytes(first + table.tobytes())
    return f"{kind}:{path}"


@pytest.mark.parametrize("kind", ["lmd", "hld"])
def test_list_mode_from_its_start(tmp_path, undisturbed, kind):
    """The finished part is read again but not kept in memory."""
    uri = by_number(kind, tmp_path / f"in.{kind}", 40_000)
    options = ["--define", "tag", "--epochs-per-slice", "40", "--report-json", "report.json"]
    reference = undisturbed([uri], *options)
    job = Job(tmp_path / "run", [uri], *options)
    job.stop(at_parts=20)
    job.resume()
    assert_same_result(job, reference, {"@setup"})
    peak = {j: json.loads((j.folder / "report.json").read_text())["peak_rss_bytes"] for j in (job, reference)}
    assert peak[job] < 1.1 * peak[reference] + (8 << 20), peak


def spikes(folder):
    text = [word for uri in csv(folder) for word in ("--source", uri)]
    eventloom("convert", *text, "--format", "spikes", "--output", f"{folder}/spikes/")
    return [f"spikes:{path}" for path in sorted((folder / "spikes").iterdir())]


def csv(folder):
    random = np.random.default_rng(1)
    folder.mkdir()
    for n in range(2):
        write_csv(folder / f"{n}.csv", np.sort(random.integers(0, 100_000_000, 40_000)), random.integers(0, 99, 40_000))
    return [f"csv:{folder}/{n}.csv?time=1&channel=2&unit=tick" for n in range(2)]


def generator(_):
    return [f"gen:poisson?rate=1e6&channels=64&seed={seed}&duration=100ms" for seed in (1, 2)]


@pytest.mark.parametrize("make", [spikes, csv, generator])
def test_other_inputs(tmp_path, undisturbed, make):
    sources = make(tmp_path / "in")
    options = ["--define", "gap:100ns,2", "--epochs-per-slice", "250"]
    reference = undisturbed(sources, *options)
    job = Job(tmp_path / "run", sources, *options)
    job.stop(at_parts=8)
    job.resume()
    assert_same_result(job, reference)


def test_damage_on_both_sides_of_the_stop(tmp_path, recording, undisturbed):
    """The losses of all attempts are in the result: exit code, totals, ledger."""
    data = bytearray(open(recording[1].removeprefix("file:"), "rb").read())
    for place in (1, 9):
        data[len(data) * place // 10] ^= 1
    (tmp_path / "damaged.epochs").write_bytes(data)
    sources = [recording[0], f"file:{tmp_path}/damaged.epochs", *recording[2:]]
    reference = undisturbed(sources, *SLICED, np=2, code=3)
    job = Job(tmp_path / "run", sources, *SLICED, np=2)
    job.stop(at_parts=10)
    job.resume(code=3)
    assert_same_result(job, reference)
    found, expected = attributes(job.folder / "run.h5"), attributes(reference.folder / "run.h5")
    assert found == expected, [name for name in expected if found.get(name) != expected[name]]
    with h5py.File(job.folder / "run.h5") as file:
        assert file.attrs["hits_dropped_corrupt"] > 0
    assert lines_with(job.resume(code=3), "complete")


@pytest.mark.parametrize("name, code", [("gen_partial_0000", 3), ("comb_0002", 0)])
def test_losses_of_list_mode(tmp_path, undisturbed, name, code):
    """Losses that readers count while they skip the finished part count once."""
    uri = f"lmd:{DATA / 'lmd' / name}.lmd?time=tag"
    options = ["--define", "tag", "--epochs-per-slice", "1"]
    reference = undisturbed([uri], *options, code=code)
    job = Job(tmp_path, [uri], *options)
    job.stop(at_parts=5)
    job.resume(code=code)
    assert_same_result(job, reference)
    found, expected = attributes(tmp_path / "run.h5"), attributes(reference.folder / "run.h5")
    assert found == expected, [key for key in expected if found.get(key) != expected[key]]


# What --resume finds.

def test_nothing_to_resume(tmp_path, recording, undisturbed):
    job = Job(tmp_path, recording, *SLICED)
    job.resume()
    assert_only_results(tmp_path)
    assert_same_result(job, undisturbed(recording, *SLICED))


def test_complete_already(tmp_path, recording):
    job = Job(tmp_path, recording, *SLICED, np=2)
    job.run()
    before = state(tmp_path)
    assert lines_with(job.resume(), "complete")
    assert state(tmp_path) == before
    refused = job.resume("--filter", "n_hits>=9", code=2)
    assert lines_with(refused, "--filter") and state(tmp_path) == before


def test_with_force_what_was_interrupted_continues(tmp_path, interrupted, complete):
    """The advice printed when a run with --force is stopped. A closed one is replaced."""
    job = interrupted(tmp_path)
    assert lines_with(job.resume("--force"), "resuming")
    assert_same_result(job, complete, {"@setup"})
    closed = state(tmp_path)
    job.resume("--force", "--filter", "n_hits>=9")
    assert all(value != closed[name] for name, value in state(tmp_path).items() if name.startswith("run."))
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["closed"] == 1 and list(file.attrs["filters"]) == ["n_hits>=9"]


def test_force_on_one_rank_alone(tmp_path, recording):
    by_rank = 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then set -- "$@" --force; fi; exec "$@"'
    words = [BINARY, "run", recording[0], *DEFINITION, "--output", tmp_path / "run.h5"]
    done = bounded(["mpirun", "--oversubscribe", "-np", "2", "sh", "-c", by_rank, "sh", *map(str, words)],
                   env=environment(), timeout=60, code=2)
    assert "--force" in done.stderr and not list(tmp_path.iterdir()), done.stderr


def test_kept_hits_of_an_interrupted_live_run(tmp_path):
    """Live data do not come again: the finished part is kept."""
    def behave(connection):
        connection.send(layout.handshake())
        for number in range(1, 41):
            event = Event(number, [Subevent(1, white_rabbit(10**15 + 2_000_000 * number))])
            connection.send(b"".join(part for group in layout.buffers([event], number) for part in group))
        connection.wait_for_client()

    layout = Layout()
    with Server(behave, behave) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport?time=wr"]
        options = ["--define", "gap:1us,1", "--segment-size", "1", "--save-sorted", "kept"]
        with LiveRun(tmp_path, uris, *options) as run:
            run.until_parts(5)
            run.signal(USR1)
            assert lines_with(run.wait(STOPPED), "without --save-sorted")
        before = {path: path.read_bytes() for path in parts(tmp_path)}
        with LiveRun(tmp_path, uris, *options, "--resume") as run:
            assert lines_with(run.wait(2), "live data cannot be received again", "--save-sorted")
    assert before and {path: path.read_bytes() for path in parts(tmp_path)} == before


def test_without_resume_it_restarts(tmp_path, interrupted, complete):
    job = interrupted(tmp_path)
    before = state(tmp_path)
    assert lines_with(job.run(), "warning", "--resume")
    after = state(tmp_path)
    assert all(after[name] != before[name] for name in before if name in after), "a file of the old run was kept"
    assert_only_results(tmp_path)
    assert_same_result(job, complete)


def lengthen(folder):
    longer = generate(folder / "longer", **(RECORDING | {"duration": "101ms"}))
    shutil.copy(longer[2].removeprefix("file:"), folder / IN[2])


def exchange(folder):
    third = (folder / IN[2]).read_bytes()
    shutil.copy(folder / IN[3], folder / IN[2])
    (folder / IN[3]).write_bytes(third)


def flip(data):
    data[len(data) // 2] ^= 4
    return data


IN = [f"in/source_00{n}.epochs" for n in range(4)]
EXTRA = {
    "define": (["--define", "gap:26ns,4", *SLICED[2:]], None, ["--define", "gap:25", "gap:26"]),
    "filter": ([*SLICED, "--filter", "n_hits>=6"], None, ["--filter", "n_hits>=6"]),
    "slice": ([*DEFINITION, "--epochs-per-slice", "100"], None, ["--epochs-per-slice", "250", "100"]),
    "overlap": ([*SLICED, "--overlap", "20us"], None, ["--overlap", "20000"]),
    "order": (SLICED, [IN[1], IN[0], *IN[2:]], ["source_000", "source_001"]),
    "fewer": (SLICED, IN[:3], ["sources", "4", "3"]),
    "another": (SLICED, [*IN[:3], "gen:poisson?rate=1e5&duration=100ms"], ["source 3", "gen:poisson"]),
}


@pytest.mark.parametrize("case", EXTRA)
def test_another_meaning_is_refused(tmp_path, interrupted, case):
    options, sources, reported = EXTRA[case]
    job = interrupted(tmp_path, sources or ["in/*.epochs"], options)
    assert_refused(job, *reported)


def assert_refused(job, *reported):
    before = state(job.folder)
    message = job.resume(code=2)
    lines = [line for line in message.splitlines() if "info" not in line]
    assert len(lines) == 1 and all(word in lines[0] for word in reported), message
    assert state(job.folder) == before, "something was changed"


@pytest.mark.parametrize("change", [lengthen, exchange])
def test_another_input_is_refused(tmp_path, interrupted, change):
    job = interrupted(tmp_path)
    change(tmp_path)
    assert_refused(job, "source 2", "source_002")


@pytest.fixture(scope="module")
def interrupted_text(tmp_path_factory):
    """A stopped run of columns of text; call for the same job with more options."""
    folder = tmp_path_factory.mktemp("text")
    write_csv(folder / "in.csv", range(0, 100_000_000, 5000), [1] * 20_000)

    def job(*more):
        return Job(folder, ["csv:in.csv?time=1&channel=2&unit=ns"], "--define", "gap:100ns,1", "--epochs-per-slice", "250",
                   "--overlap", "10us", *more)

    job().stop(at_parts=2)
    return job


@pytest.mark.parametrize("option, value", [("--tick", "2ns"), ("--epoch", "20us")])
def test_another_time_base_is_refused(interrupted_text, option, value):
    assert_refused(interrupted_text(option, value), option)


def test_another_byte_is_refused(interrupted_text):
    """One byte of a channel differs; length and time are as before."""
    job = interrupted_text()
    path = job.folder / "in.csv"
    before, about = path.read_bytes(), path.stat()
    path.write_bytes(before[:-2] + b"2\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert_refused(job, "source 0", "in.csv")
    path.write_bytes(before)
    job.resume()


@pytest.mark.parametrize("np, options", [
    (3, ["--builders", "3", "--filters", "2", "--schedule", "chaotic", "--cell-size", "16KiB", "--segment-size", "100000"]),
    (2, ["--schedule", "balanced", "--ring-depth", "4", "--slices-in-flight", "2", "--compress", "1", "--segment-time", "1s"])])
def test_another_spread_is_allowed(tmp_path, interrupted, undisturbed, recording, np, options):
    options = [*DEFINITION, "--epochs-per-slice", "250", *options]
    job = interrupted(tmp_path, options=options, np=np)
    before = state(tmp_path)
    job.resume()
    assert_kept(before, tmp_path)
    assert_only_results(tmp_path)
    expected = undisturbed(recording, *SLICED)
    assert_same(read_merged(job.merged()), read_merged(expected.merged()))
    assert ledger_rows(read_ledger(tmp_path / "run.h5")) == ledger_rows(read_ledger(expected.folder / "run.h5"))
    assert_balanced(read_ledger(tmp_path / "run.h5"))


# Lists and parts that something has happened to.

def flip_in_line(number):
    def damage(folder):
        path = lists(folder)[0]
        lines = path.read_bytes().splitlines(keepends=True)
        lines[number] = bytes(flip(bytearray(lines[number])))
        path.write_bytes(b"".join(lines))
    return damage


def drop_line(folder):
    path = lists(folder)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))


@pytest.mark.parametrize("damage, reported", [
    (flip_in_line(0), ["run.part-0000.list"]),
    (flip_in_line(4), ["run.part-0000.list", "line 5"]),
    (drop_line, ["run.part-0000.list"])], ids=["first line", "flipped", "line lost"])
def test_damage_is_refused(tmp_path, interrupted, damage, reported):
    job = interrupted(tmp_path)
    damage(tmp_path)
    assert_refused(job, *reported)


def tear(folder):
    path = lists(folder)[0]
    os.truncate(path, path.stat().st_size - 40)


def write_on(folder):
    with lists(folder)[0].open("a") as file:
        file.write('01234567 {"after":"')


def add_strays(folder):
    shutil.copy(parts(folder)[0], folder / "run.part-0000-0900.h5")
    shutil.copy(parts(folder)[0], folder / "run.part-0003-0000.h5")
    for name in ("run.part-0001-0002.h5.partial", "run.h5.partial"):
        (folder / name).write_bytes(b"eventloom: an HDF5 file that is being written\n")
    (folder / "run.part-0004-0000.h5.partial").write_bytes(b"")


def take_names(folder):
    """The state after a crash between the entry in the list and the name."""
    for path in (parts(folder)[-1], parts(folder)[2]):
        path.rename(f"{path}.partial")


@pytest.mark.parametrize("happen, kept", [(tear, -1), (write_on, 0), (flip_in_line(-1), -1), (add_strays, 0), (take_names, 0)],
                         ids=["torn", "being written", "last line flipped", "strays", "names"])
def test_what_a_crash_may_leave(tmp_path, interrupted, complete, happen, kept):
    """All finished parts are used as they are; parts not proved to be finished are rebuilt."""
    job = interrupted(tmp_path)
    (tmp_path / "running.h5").write_bytes(b"of somebody else")
    listed = {path.name: path.stat().st_ino for path in parts(tmp_path)}
    happen(tmp_path)
    text = job.resume()
    assert "running.h5" in {path.name for path in tmp_path.iterdir()}
    names = sorted(listed)[:len(listed) + kept]
    assert {name: (tmp_path / name).stat().st_ino for name in names} == {name: listed[name] for name in names}
    assert lines_with(text, "resuming", str(len(names))), text
    assert_only_results(tmp_path)
    assert_same_result(job, complete)


# Disks.

@contextlib.contextmanager
def disk(folder, size):
    """A file system of `size` bytes; yields a function that enlarges it."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, timeout=20)
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True, timeout=20)
    finally:
        subprocess.run(["umount", "-l", folder], check=True, timeout=20)


ALL_HITS = ["--define", "gap:1ns,1", "--epochs-per-slice", "250"]  # 7 MB


def assert_readable(folder):
    assert not list(folder.glob("*.partial"))
    for path in parts(folder):
        with h5py.File(path) as file:
            assert len(file["hits/time"][:]) == file["events/first_hit"][-1]
        assert_balanced(read_ledger(path))


@needs_root
@pytest.mark.parametrize("np, more", [(None, ["--segment-size", "100000"]), (2, ["--segment-size", "1MiB"])])
def test_disk_full(tmp_path, recording, undisturbed, np, more):
    job = Job(tmp_path / "disk", recording, *ALL_HITS, *more, np=np)
    with disk(job.folder, "3m") as make_room:
        reported = job.run(code=STOPPED)
        assert lines_with(reported, "No space left on device", "run.part-"), reported
        assert lines_with(reported, "--resume"), reported
        assert parts(job.folder), "the parts before are finished"
        assert_readable(job.folder)
        with h5py.File(job.folder / "run.h5") as file:
            assert file.attrs["closed"] == 0
        before = state(job.folder)
        job.resume(code=STOPPED)
        make_room()
        job.resume()
        assert_kept(before, job.folder)
        assert_only_results(job.folder)
        assert_same_result(job, undisturbed(recording, *ALL_HITS, *more, np=np))


@needs_root
def test_disk_full_when_only_the_run_file_is_left(tmp_path, recording, undisturbed):
    options = [*DEFINITION, "--epochs-per-slice", "1"]  # the longest ledger
    reference = undisturbed(recording, *options)
    size = {path.name: path.stat().st_size for path in reference.folder.glob("run.*")}
    job = Job(tmp_path / "disk", recording, *options)
    with disk(job.folder, sum(size.values())) as make_room:  # the first run.h5 exists until the last one is written
        reported = job.run(code=STOPPED)
        assert lines_with(reported, "No space left on device", "run.h5"), reported
        before = state(job.folder)
        assert len(parts(job.folder)) == 1
        make_room()
        job.resume()
        assert_kept(before, job.folder)
        assert_only_results(job.folder)
        assert_same_result(job, reference)


@needs_root
def test_folder_that_cannot_be_written(tmp_path, recording):
    job = Job(tmp_path / "disk", recording, *SLICED)
    with disk(job.folder, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", job.folder], check=True, timeout=20)
        for more in ([], ["--resume"]):
            done = eventloom(*job.words[:-1], job.folder / "run.h5", *more, code=2)
            assert len(lines_with(done.stderr, "Read-only file system")) == 1
        assert not list(job.folder.iterdir())


FAILING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int calls;
int fsync(int file) {
  char link[64], name[4096] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, ".h5.partial") && strstr(name, "part-") && ++calls > 5) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
"""


def test_disk_that_fails(tmp_path, recording, undisturbed):
    """fsync of the sixth part reports that it is not on disk."""
    (tmp_path / "failing.c").write_text(FAILING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "failing.so", tmp_path / "failing.c", "-ldl"], check=True, timeout=60)
    job = Job(tmp_path / "run", recording, *SLICED, env={"LD_PRELOAD": str(tmp_path / "failing.so")})
    reported = job.run("--segment-size", "1", code=STOPPED)
    assert lines_with(reported, "Input/output error", "run.part-0000-0005.h5"), reported
    assert len(parts(job.folder)) == 5
    assert_readable(job.folder)
    before = state(job.folder)
    job.env = None
    job.resume()
    assert_kept(before, job.folder)
    assert_same_result(job, undisturbed(recording, *SLICED))


def test_scratch_folder(tmp_path, recording, undisturbed):
    """Parts are complete when they appear; the scratch folder is created, and is empty at the end."""
    scratch = tmp_path / "made" / "for it"
    job = Job(tmp_path / "run", recording, *SLICED, "--scratch", scratch, np=2)
    seen = set()
    with job.start("--speed", "0.01", "--segment-size", "1") as started:
        def look():
            for path in set(parts(job.folder)) - seen:
                seen.add(path)
                assert_balanced(read_ledger(path))
            return len(seen) >= 6
        until(look, "six parts")
        started.send(USR1, 1)
        started.wait(STOPPED)
    assert not [path for path in scratch.rglob("*") if path.is_file()]
    job.resume()
    assert not [path for path in scratch.rglob("*") if path.is_file()]
    assert_only_results(job.folder)
    assert_same_result(job, undisturbed(recording, *SLICED, np=2), {"@setup"})


@needs_root
def test_scratch_folder_is_full(tmp_path, recording, undisturbed):
    job = Job(tmp_path / "run", recording, *ALL_HITS, "--segment-size", "2MiB", "--scratch", tmp_path / "scratch")
    with disk(tmp_path / "scratch", "1m") as make_room:
        reported = job.run(code=STOPPED)
        assert lines_with(reported, "No space left on device", "scratch"), reported
        assert not parts(job.folder)
        make_room()
        job.resume()
        assert not [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert_only_results(job.folder)
    assert_same_result(job, undisturbed(recording, *ALL_HITS), {"@setup"})


# Options beside it.

def test_kept_hits_restart(tmp_path, recording, undisturbed):
    job = Job(tmp_path, recording, *SLICED, "--save-sorted", "sorted")
    job.stop()
    assert lines_with(job.resume(), "starts over")
    assert_only_results(tmp_path)
    expected = undisturbed(recording, *SLICED)
    assert_same_result(job, expected, {"@setup"})
    again = Job(tmp_path / "again", [f"sorted:{tmp_path}/sorted"], *SLICED)
    again.run()
    assert_same(read_merged(again.merged()), read_merged(expected.merged()))


@pytest.mark.parametrize("time, least, most", [("1ms", N_SLICES // 2, N_SLICES), ("1h", 1, 1)])
def test_segment_time(tmp_path, recording, undisturbed, time, least, most):
    """At a pace of 50 ms per slice."""
    options = [*DEFINITION, "--epochs-per-slice", "250", "--segment-time", time]
    job = Job(tmp_path, recording, *options)
    job.run(*SLOW[:2])
    assert least <= len(parts(tmp_path)) <= most
    assert_same(read_merged(job.merged()), read_merged(undisturbed(recording, *SLICED).merged()))
