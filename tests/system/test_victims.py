"""No command writes to its inputs, nor over foreign files: each option that names a file is given files it must not
touch."""

import contextlib
import fcntl
import os
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
from pathlib import Path

import h5py
import pytest

from inject import LIBRARY, failures_in, injecting
from interrupted import Started, until
from program import BINARY, environment, eventloom, generate
from results import assert_same, read_merged

RUN = ["--define", "gap:25ns,4", "--epochs-per-slice", "100"]
PRECIOUS = "the only copy of a thesis\n" * 50


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A recording, a finished run of it, its merged file and its report."""
    folder = tmp_path_factory.mktemp("master")
    generate(folder / "in", sources=2, rate=10_000, hits=8, duration="10ms", noise=10_000)
    for name in ("run", "other"):
        eventloom("run", "--source", "in/*.epochs", *RUN, "--output", f"{name}.h5", "--report-json", f"{name}.json", cwd=folder)
        eventloom("merge", f"{name}.h5", cwd=folder)
    (folder / "plan.ini").write_text("nodes = 2\nsources = 4\n")
    (folder / "thesis.txt").write_text(PRECIOUS)
    (folder / "a").mkdir()
    (folder / "runs").mkdir()
    (folder / "runs" / "runs.jsonl").write_text('{"format":"eventloom-runs","version":1}\n{"run":1,"began":"2026-11-22T18:31:48Z"}\n')
    return folder


@pytest.fixture
def folder(tmp_path, master):
    place = tmp_path / "here"
    shutil.copytree(master, place)
    return place


def state(folder):
    """The contents of a folder by name: kind, inode, and bytes, target or nothing."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        kind = stat.S_IFMT(about.st_mode)
        held = path.read_bytes() if stat.S_ISREG(kind) else os.readlink(path) if stat.S_ISLNK(kind) else None
        found[str(path.relative_to(folder))] = (kind, about.st_ino, held)
    return found


def assert_refused(folder, *words, np=None):
    before = state(folder)
    done = eventloom(*words, np=np, code=2, cwd=folder, timeout=60)
    reported = [line for line in done.stderr.splitlines() if line.startswith("eventloom") and ": info:" not in line]
    assert len(reported) == 1 and "internal" not in reported[0], f"{words}\n{done.stderr}"
    after = state(folder)
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    assert not changed, (words, changed)
    return reported[0]


def clear(place):
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    else:
        place.unlink(missing_ok=True)


def planted(folder, place, *more):
    """One after another, files of each kind that may lie in a place by accident."""
    for plant in (lambda: place.write_text(PRECIOUS), lambda: place.symlink_to(folder / "thesis.txt"), place.mkdir,
                  lambda: os.mkfifo(place), *more):
        plant()
        yield
        clear(place)


# Each function takes the folder and a free name, and returns the option's value.

def linked(folder, name, make):
    make(folder / name)
    return name


VICTIMS = {
    "input": lambda folder, name: "in/source_000.epochs",
    "input by another way": lambda folder, name: "a/../in/source_000.epochs",
    "hard link": lambda folder, name: linked(folder, name, lambda path: path.hardlink_to(folder / "in/source_001.epochs")),
    "link": lambda folder, name: linked(folder, name, lambda path: path.symlink_to("in/source_001.epochs")),
    "link to text": lambda folder, name: linked(folder, name, lambda path: path.symlink_to("thesis.txt")),
    "link to a run": lambda folder, name: linked(folder, name, lambda path: path.symlink_to("other.h5")),
    "dangling link": lambda folder, name: linked(folder, name, lambda path: path.symlink_to("nothing")),
    "text": lambda folder, name: linked(folder, name, lambda path: path.write_text(PRECIOUS)),
    "empty file": lambda folder, name: linked(folder, name, lambda path: path.write_text("")),
    "empty folder": lambda folder, name: linked(folder, name, lambda path: path.mkdir()),
    "folder": lambda folder, name: "in",
    "fifo": lambda folder, name: linked(folder, name, os.mkfifo),
    "run": lambda folder, name: "other.h5",
    "part": lambda folder, name: "other.part-0000-0000.h5",
    "merged": lambda folder, name: "other.merged.h5",
    "partial of text": lambda folder, name: linked(folder, name, lambda path: path.with_name(f"{name}.partial").write_text(PRECIOUS)),
    "partial link": lambda folder, name: linked(folder, name, lambda path: path.with_name(f"{name}.partial").symlink_to("thesis.txt")),
    "partial fifo": lambda folder, name: linked(folder, name, lambda path: os.mkfifo(f"{path}.partial")),
    "name too long": lambda folder, name: "x" * 250 + name,
    "no such folder": lambda folder, name: f"nosuch/{name}",
    "no folder": lambda folder, name: f"thesis.txt/{name}",
}
COMMANDS = {
    "run": (["run", "in/*.epochs", *RUN], "--output", "victim.h5"),
    "report of a run": (["run", "in/*.epochs", *RUN, "--output", "new.h5"], "--report-json", "victim.json"),
    "merge": (["merge", "run.h5"], "--output", "victim.h5"),
    "convert": (["convert", "in/source_000.epochs"], "--output", "victim.epochs"),
    "convert to spikes": (["convert", "in/source_000.epochs", "--format", "spikes"], "--output", "victim.spikes"),
    "plan": (["plan", "--source", "in/*.epochs"], "--rankfile", "victim"),
    "page": (["report", "run.h5"], "--output", "victim.html"),
    "list of runs": (["report", "--runs", "runs"], "--output", "victim.html"),
    "plots of a report": (["report", "run.h5", "--output", "new.html"], "--png", "victim"),
    "picture of an event": (["show", "run.h5", "--event", "0"], "--svg", "victim.svg"),
    "report of a benchmark": (["bench", "latency", "--repeat", "1"], "--report-json", "victim.json"),
    "raw times of a benchmark": (["bench", "latency", "--repeat", "1"], "--raw", "victim.csv"),
    "report of a simulation": (["simulate", "--nodes", "2"], "--report-json", "victim.json"),
    "plot of a simulation": (["simulate", "--nodes", "2"], "--plot", "victim.svg"),
    "plot of a benchmark": (["bench", "latency", "--repeat", "1"], "--plot", "victim.svg"),
}
# Pairs that are not mistakes: for `convert` and `--png`, a folder states where the files go.
RIGHT = {(command, folder) for command in ("convert", "convert to spikes", "plots of a report") for folder in ("empty folder", "folder")}
RIGHT |= {("plots of a report", victim) for victim in ("partial of text", "partial link", "partial fifo", "no such folder")}
SOME = {"input", "hard link", "link to text", "dangling link", "text", "empty folder", "fifo", "partial link", "no folder"}
FORCED = {"run": {"run", "merged"}, "merge": {"merged"}, "convert": {"hard link"}, "convert to spikes": set()}


@pytest.mark.parametrize("command", COMMANDS)
def test_victims_of_an_option(folder, command):
    words, option, name = COMMANDS[command]
    for victim, make in VICTIMS.items():
        if (command, victim) in RIGHT or (words[0] == "bench" and victim not in SOME):
            continue
        shutil.rmtree(folder / "v", ignore_errors=True)
        given = make(folder, name)
        assert_refused(folder, *words, option, given)
        if command in FORCED and victim not in FORCED[command]:
            assert_refused(folder, *words, option, given, "--force")
        for made in (folder / name, folder / f"{name}.partial"):
            clear(made)


@pytest.mark.parametrize("name", ["rates.png", "sources.png", "interval.png.partial"])
def test_names_that_plots_need(folder, name):
    (folder / "plots").mkdir()
    place = folder / "plots" / name
    for _ in planted(folder, place):
        assert_refused(folder, "report", "run.h5", "--output", "new.html", "--png", "plots")


def test_pages_and_pictures_give_way_to_their_like_only(folder):
    page = ["report", "run.h5", "--output", "a.html"]
    picture = ["show", "run.h5", "--largest", "--svg", "a.svg"]
    for words in (page, picture):
        for _ in range(2):
            eventloom(*words, cwd=folder)
    assert_refused(folder, *page[:-1], "a.svg")
    assert_refused(folder, *picture[:-1], "a.html")
    for name in ("run.h5", "run.part-0000-0000.h5", "a/../run.h5"):
        assert_refused(folder, "report", "run.h5", "--output", name)
        assert_refused(folder, "show", "run.h5", "--largest", "--svg", name)
    assert_refused(folder, "report", "--runs", "runs", "--output", "a.html")
    assert_refused(folder, "report", "--runs", "runs", "--output", "runs/runs.jsonl")
    for _ in range(2):
        eventloom("report", "--runs", "runs", "--output", "b.html", cwd=folder)
    assert_refused(folder, *page[:-1], "b.html")


@pytest.mark.parametrize("option, name", [("--output", "victim.h5"), ("--report-json", "victim.json"),
                                          ("--save-sorted", "victim")])
@pytest.mark.parametrize("victim", ["input", "link to text"])
def test_victims_on_two_ranks(folder, option, name, victim):
    words = ["run", "in/*.epochs", *RUN] + ([] if option == "--output" else ["--output", "new.h5"])
    assert_refused(folder, *words, option, VICTIMS[victim](folder, name), np=2)


def test_a_report_over_a_text_is_refused_with_force_too(folder):
    for report in ("thesis.txt", "in/source_000.epochs", "other.h5"):
        assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "new.h5", "--force", "--report-json", report)


def test_names_that_conversions_need(folder):
    (folder / "made").mkdir()
    for name in ("00000_source_000.epochs", "00001_source_001.epochs.partial"):
        place = folder / "made" / name
        for _ in planted(folder, place):
            for more in ([], ["--force"]):
                assert_refused(folder, "convert", "in/*.epochs", "--output", "made/", *more)


def test_names_that_a_record_of_a_live_run_needs(folder):
    (folder / "kept").mkdir()
    words = ["run", "--source", "udp://127.0.0.1:0", *RUN, "--output", "new.h5", "--record", "kept", "--duration", "1ms"]
    for name in ("source-0000.epochs", "source-0000.epochs.partial"):
        place = folder / "kept" / name
        for _ in planted(folder, place, lambda: place.hardlink_to(folder / "in/source_000.epochs")):
            for more in ([], ["--force"]):
                assert_refused(folder, *words, *more)


BESIDE_A_RUN = ["new.h5.partial", "new.h5.lock", "new.part-0000-0000.h5", "new.part-0007-0123.h5.partial", "new.part-0003.list"]


@pytest.mark.parametrize("name", BESIDE_A_RUN)
@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]], ids=["plain", "force", "resume"])
def test_names_that_a_run_needs(folder, name, options):
    place = folder / name
    for _ in planted(folder, place, lambda: place.hardlink_to(folder / "in/source_000.epochs")):
        assert name.partition(".")[0] in assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "new.h5", *options)


@pytest.mark.parametrize("name", ["ev_0000.lmd", "ev_0012.lmd", "ev_0000.lmd.partial", "ev08010212001.hld", "ev08010212042.hld.partial"])
@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]], ids=["plain", "force", "resume"])
def test_names_that_list_mode_files_need(folder, name, options):
    place = folder / name
    also = ["--also", "lmd:ev", "--also", "hld:a/../ev?run=1"]
    for _ in planted(folder, place, lambda: place.hardlink_to(folder / "in/source_000.epochs")):
        reported = assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "new.h5", *also, *options)
        assert name.removesuffix(".partial") in reported


@pytest.mark.parametrize("np", [None, 2])
def test_list_mode_files_never_replace_what_is_read(folder, np):
    """Even if Eventloom wrote it."""
    eventloom("merge", "run.h5", "--to", "lmd:ev", cwd=folder)
    if np is not None:
        (folder / "ev_0000.lmd").rename(folder / "ev_w01_0000.lmd")
    for path in ("lmd:ev", "lmd:in/../ev"):
        assert "is read as" in assert_refused(folder, "run", "lmd:ev*.lmd", "--define", "tag", "--output", "new.h5", "--also",
                                              path, "--force", np=np)


@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]], ids=["plain", "force", "resume"])
def test_an_empty_file_is_no_lock(folder, options):
    (folder / "new.h5.lock").touch()
    assert "new.h5.lock" in assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "new.h5", *options)


@pytest.mark.parametrize("name", ["source_000.epochs", "source_001.epochs.partial", "truth.csv", "truth.json", "truth.csv.partial"])
def test_names_that_a_recording_needs(folder, name):
    (folder / "made").mkdir()
    place = folder / "made" / name
    words = ["generate", "--output", "made", "--sources", "2", "--duration", "1ms"]
    for _ in planted(folder, place):
        assert_refused(folder, *words)
        assert_refused(folder, *words, "--force")


@pytest.mark.parametrize("name", ["builder_00000.epochs", "builder_00003.epochs.partial", "sorted.json"])
def test_names_in_a_folder_of_sorted_hits(folder, name):
    (folder / "kept").mkdir()
    place = folder / "kept" / name
    words = ["run", "in/*.epochs", *RUN, "--output", "new.h5", "--save-sorted", "kept"]
    for _ in planted(folder, place, lambda: place.hardlink_to(folder / "in/source_000.epochs")):
        for more in ([], ["--force"]):
            assert_refused(folder, *words, *more)


@pytest.mark.parametrize("option", ["--save-sorted", "--record", "--scratch"])
def test_folders_that_are_none(folder, option):
    (folder / "fifo").unlink(missing_ok=True)
    os.mkfifo(folder / "fifo")
    source = "udp://127.0.0.1:0" if option == "--record" else "in/*.epochs"
    for place in ("thesis.txt", "in/source_000.epochs", "thesis.txt/below", "fifo", "x" * 300):
        assert_refused(folder, "run", source, *RUN, "--output", "new.h5", option, place, "--duration", "1ms")


def test_two_outputs_of_one_run(folder):
    run = ["run", "in/*.epochs", *RUN, "--output", "new.h5"]
    (folder / "kept").mkdir()
    for more in (["--report-json", "new.h5"], ["--report-json", "a/../new.h5"], ["--report-json", "new.h5.partial"],
                 ["--report-json", "new.h5.lock"], ["--report-json", "a/../new.part-0000-0000.h5"],
                 ["--report-json", "new.part-0000.list"], ["--save-sorted", "kept", "--report-json", "kept/sorted.json"],
                 ["--save-sorted", "kept", "--report-json", "kept/builder_00000.epochs"],
                 ["--also", "lmd:x", "--report-json", "a/../x_0003.lmd"], ["--also", "hld:x?run=1", "--report-json", "x08010212005.hld"]):
        assert_refused(folder, *run, *more)
    assert_refused(folder, *run[:-1], "new_0000.lmd", "--also", "lmd:new")
    assert_refused(folder, "bench", "latency", "--report-json", "x.svg", "--plot", "a/../x.svg")


def test_the_configuration_is_read(folder):
    (folder / "run.ini").write_text("define = gap:25ns,4\nsource = in/*.epochs\n")
    (folder / "empty.ini").write_text("")
    for words in (["run", "--config", "run.ini", "--output", "run.ini", "--force"],
                  ["run", "--config", "run.ini", "--output", "new.h5", "--report-json", "a/../run.ini"],
                  ["merge", "run.h5", "--config", "empty.ini", "--output", "empty.ini", "--force"],
                  ["convert", "in/source_000.epochs", "--config", "empty.ini", "--output", "empty.ini", "--force"],
                  ["plan", "--config", "plan.ini", "--rankfile", "plan.ini"]):
        assert_refused(folder, *words)


def test_merge_over_what_it_reads(folder):
    for name in ("run.h5", "run.part-0000-0000.h5", "a/../run.h5"):
        assert_refused(folder, "merge", "run.h5", "--output", name, "--force")


def test_a_table_is_read(folder):
    (folder / "table.csv").write_text("0,0,0,0\n0,0,1,0\n")
    for option in ("--output", "--report-json"):
        assert_refused(folder, "run", "in/*.epochs", *RUN, "--schedule", "table:table.csv", option, "table.csv", "--builders", "1")


# Eventloom's own files.

def test_a_finished_run_gives_way_only_to_force(folder):
    expected = read_merged(folder / "run.merged.h5")
    reported = assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "run.h5")
    assert "--force" in reported
    eventloom("run", "in/*.epochs", *RUN, "--output", "run.h5", "--report-json", "run.json", "--force", "--builders", "2", cwd=folder)
    assert_refused(folder, "merge", "run.h5")
    eventloom("merge", "run.h5", "--force", cwd=folder)
    found = read_merged(folder / "run.merged.h5")
    assert all((found[name] == expected[name]).all() for name in expected)
    (folder / "run.h5").unlink()
    for more in ([], ["--resume"]):
        assert "--force" in assert_refused(folder, "run", "in/*.epochs", *RUN, "--output", "run.h5", *more)
    eventloom("run", "in/*.epochs", *RUN, "--output", "run.h5", "--force", cwd=folder)
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["closed"] == 1
    assert not list(folder.glob("run.h5.*"))


def test_sorted_hits_of_a_finished_run(folder):
    words = ["run", "in/*.epochs", *RUN, "--save-sorted", "kept", "--output"]
    eventloom(*words, "first.h5", cwd=folder)
    assert_refused(folder, "run", "sorted:kept", *RUN, "--save-sorted", "a/../kept", "--output", "second.h5", "--force")
    again = ["run", "in/source_000.epochs", *RUN, "--save-sorted", "kept", "--output", "second.h5"]
    for more in ([], ["--resume"]):
        assert "--force" in assert_refused(folder, *again, *more)
    assert_refused(folder, *words, "first.h5")
    eventloom(*words, "first.h5", "--resume", cwd=folder)
    eventloom(*again, "--force", cwd=folder)


def test_a_benchmark_keeps_a_finished_run(folder):
    words = ["bench", "sources", "--seconds", "0.01", "--rate", "1e5", "--limit", "none", "--output"]
    assert_refused(folder, *words, "run.h5")
    assert_refused(folder, *words, "run.h5", "--force")
    eventloom(*words, "new.h5", cwd=folder)
    assert "--force" in assert_refused(folder, *words, "new.h5")
    eventloom(*words, "new.h5", "--force", cwd=folder)
    with (folder / "next.h5.lock").open("w") as file:
        file.write("eventloom-lock: process 1 on elsewhere\n")
        file.flush()
        take_lock(file)
        assert "process 1 on elsewhere" in assert_refused(folder, *words, "next.h5")


def test_a_rank_file_of_the_user(folder):
    (folder / "ranks").write_text("rank 0=n1 slot=0\nrank 1=n1 slot=1\n")
    assert_refused(folder, "plan", "--sources", "4", "--rankfile", "ranks")
    for _ in range(2):
        eventloom("plan", "--sources", "4", "--rankfile", "new", cwd=folder)


@pytest.mark.parametrize("uri", ["udp://127.0.0.1:0", "mbs://127.0.0.1:1/stream"])
@pytest.mark.parametrize("ending", ["epochs", "spikes"])
def test_what_a_killed_recording_has_left(folder, uri, ending):
    """The only copy of live data has the name of an unfinished file."""
    name = f"in/source_000.{ending}"
    if ending == "spikes":
        eventloom("convert", "in/source_000.epochs", "--format", "spikes", "--output", name, cwd=folder)
    shutil.copy(folder / name, folder / f"x.{ending}.partial")
    words = ["convert", uri, "--format", ending, "--output", f"x.{ending}"]
    assert "--force" in assert_refused(folder, *words)
    (folder / "made").mkdir()
    shutil.copy(folder / name, folder / "made" / f"00000_127.0.0.1_{uri.split(':')[2].replace('/', '_')}.{ending}.partial")
    assert "--force" in assert_refused(folder, "convert", uri, "--format", ending, "--output", "made/")


def test_a_refused_command_makes_no_folder(folder):
    (folder / "thesis.ini").write_text("")
    for words in (["convert", "in/*.epochs", "--config", "thesis.ini", "--output", "new/" + "x" * 300],
                  ["convert", "in/*.epochs", "--output", "thesis.txt"], ["convert", "in/*.epochs", "--output", "thesis.txt/below"],
                  ["generate", "--config", "thesis.ini", "--output", "new/below/" + "x" * 300],
                  ["generate", "--output", "thesis.txt/below"], ["generate", "--config", "new/../thesis.ini", "--output", "new"]):
        assert_refused(folder, *words)


def test_recordings_give_way_to_force(folder):
    words = ["generate", "--output", "in", "--sources", "2", "--duration", "1ms"]
    assert_refused(folder, *words)
    eventloom(*words, "--force", cwd=folder)
    words = ["convert", "in/source_000.epochs", "--output", "in/source_001.epochs"]
    assert_refused(folder, *words)
    eventloom(*words, "--force", cwd=folder)


def test_reports_to_streams(folder):
    done = eventloom("run", "in/*.epochs", *RUN, "--output", "new.h5", "--report-json", "/dev/stdout", cwd=folder)
    assert '"format": "eventloom-report"' in done.stdout
    eventloom("run", "in/*.epochs", *RUN, "--output", "next.h5", "--report-json", "/dev/null", cwd=folder)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# Two at once, and leftovers of a dead one.

def take_lock(file):
    """Takes the lock on the open file: a process's locks end when it closes the file anywhere."""
    of_open_file = 37  # F_OFD_SETLK
    fcntl.fcntl(file, of_open_file, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))


IN_THE_MAKING = b"eventloom: an HDF5 file that is being written\n"


@contextlib.contextmanager
def held(folder, *words, **where):
    """A command that stays in the call `where` until the end of the `with`, and then ends with 0."""
    with tempfile.TemporaryDirectory(prefix="eventloom-") as logs:
        log = Path(logs) / "log"
        with Started(folder, *words, env=injecting(log, do="wait", **where)) as started:
            until(lambda: failures_in(log), "the call in which it is held", 30, started.text)
            yield started
            Path(f"{log}.go").touch()
            started.wait(0)


needs_injection = pytest.mark.skipif(not LIBRARY.exists(), reason="the library that holds a call is not built")


@needs_injection
@pytest.mark.parametrize("call", ["H5Dcreate2", "renameat2"])
def test_two_merges_at_once(folder, call):
    """The first one continues undisturbed."""
    expected = read_merged(folder / "run.merged.h5")
    (folder / "run.merged.h5").unlink()
    with held(folder, "merge", "run.h5", call=call):
        assert "another process" in assert_refused(folder, "merge", "run.h5")
        assert "another process" in assert_refused(folder, "merge", "run.h5", "--force")
    assert_same(read_merged(folder / "run.merged.h5"), expected)
    assert not list(folder.glob("*.partial"))


@needs_injection
@pytest.mark.parametrize("call, more, np", [("H5Dwrite", [], None), ("rename", ["--force"], None), ("rename", ["--resume"], 2)])
def test_two_runs_at_once(folder, call, more, np):
    words = ["run", "in/*.epochs", *RUN, "--output", "new.h5"]
    with held(folder, *words, call=call):
        assert f"on {socket.gethostname()}" in assert_refused(folder, *words, *more, np=np)
    eventloom("merge", "new.h5", cwd=folder)
    assert_same(read_merged(folder / "new.merged.h5"), read_merged(folder / "run.merged.h5"))
    assert not list(folder.glob("new.h5.*"))


def test_what_a_dead_process_left_is_no_lock(folder):
    (folder / "new.h5.lock").write_text("eventloom-lock: process 1 on elsewhere\n")
    (folder / "run.merged.h5").unlink()
    (folder / "run.merged.h5.partial").write_bytes(IN_THE_MAKING + bytes(5000))
    eventloom("run", "in/*.epochs", *RUN, "--output", "new.h5", cwd=folder)
    eventloom("merge", "run.h5", cwd=folder)
    assert not list(folder.glob("new.h5.*")) and not list(folder.glob("*.partial"))


@pytest.mark.parametrize("options", [[], ["--resume"]], ids=["plain", "resume"])
def test_what_ended_while_another_run_waited(folder, options):
    """By then it is a finished run."""
    place = folder / "waiting"
    shutil.copytree(folder / "in", place / "in")
    lock = place / "run.h5.lock"
    lock.write_text("eventloom-lock: process 1 on elsewhere\n")
    with lock.open("r+") as file:
        take_lock(file)
        words = [BINARY, "run", "in/*.epochs", *RUN, "--output", "run.h5", *options]
        waits = subprocess.Popen(words, cwd=place, env=environment(), text=True, stderr=subprocess.PIPE)
        while "waiting for another run" not in waits.stderr.readline():
            assert waits.poll() is None
        assert not list(place.glob("*part-9999*")), "nothing of its own is there"
        for path in folder.glob("run.*"):
            shutil.copy(path, place)
        before = {path.name: path.read_bytes() for path in place.glob("run.*") if path != lock}
        lock.unlink()
    reported = waits.communicate(timeout=60)[1]
    assert waits.returncode == (0 if options else 2), reported
    assert {path.name: path.read_bytes() for path in place.glob("run.*")} == before


@pytest.mark.parametrize("rank", [0, 1])
def test_every_process_of_a_launcher_refuses(folder, rank):
    """As with `mpirun -np 2 sh -c 'eventloom convert r$OMPI_COMM_WORLD_RANK.lmd ...'`: nothing was done."""
    env = environment() | {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": str(rank)}
    done = subprocess.run([BINARY, "convert", "in/source_000.epochs", "--output", "x.epochs"], cwd=folder, env=env, text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 2 and ("one process" in done.stderr) == (rank == 0), done.stderr
    assert not (folder / "x.epochs").exists()


@pytest.mark.parametrize("words", [["merge", "run.h5", "--force"], ["convert", "in/source_000.epochs", "--output", "x.epochs"],
                                   ["generate", "--output", "made"], ["plan", "--sources", "4", "--rankfile", "x"], ["inspect", "run.h5"]],
                         ids=lambda words: words[0])
def test_one_process_under_mpirun(folder, words):
    before = state(folder)
    done = eventloom(*words, np=2, code=2, cwd=folder)
    assert len([line for line in done.stderr.splitlines() if "one process" in line]) == 1, done.stderr
    assert state(folder) == before
