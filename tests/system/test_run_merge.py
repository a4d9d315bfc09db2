"""run --merge: the run's file then equals what `merge` writes of the same run without it, and every command reads it;
any interruption leaves a run that can be merged."""

import contextlib
import json
import os
import shutil
import signal
import subprocess

import h5py
import numpy as np
import pytest

from detector_reference import write_map
from inject import failures_in, injecting
from interrupted import STOPPED, Started, content, gone, lines_with, parts, state, state_of, until
from live import HOST, LiveRun
from lmd_reference import Event, Subevent, white_rabbit
from mbs import Layout, Server
from page import document_of
from program import BINARY, environment, eventloom, generate, only_line
from results import read_merged

DEFINE = ["--define", "gap:50ns,4"]
MORE = ["--filter", "n_hits<12", "--hist", "n=n_hits:0..20/20", "--hist", "e=value(A):0..500/50", "--group", "A=source:0-1"]
SLICED = ["--epochs-per-slice", "20", "--segment-size", "60000"]
NAMED = ["--define", "small=gap:50ns,4", "--define", "large=gap:200ns,8"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")

# Items of the merged file that are not in that beside a run, because they depend on how the run was done.
INVOCATIONS = {"@began", "@ended", "@command_lines"}
STATISTICS = {"alarms", "builders", "clocks", "counters", "event_files", "invocations", "latency", "rates", "source_counters"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """600,000 hits with one payload word."""
    return generate(tmp_path_factory.mktemp("in"), sources=3, rate=20_000, hits=8, width="50ns", noise=500_000, duration="100ms",
                    payload=1, seed=12)


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """A map with gains, and everything that the output can contain."""
    gains = [{"source": "0", "gain": "0.5", "zero": "3", "name": "first"}, {"source": "1", "gain": "2"}]
    return [*DEFINE, *MORE, *SLICED, "--detector", write_map(tmp_path_factory.mktemp("map") / "map.csv", gains)]


def run_in(folder, sources, *options, np=None, code=0, env=None):
    """Runs in its own folder, so that all runs have the same names of files."""
    folder.mkdir(exist_ok=True)
    uris = [word for uri in sources for word in ("--source", uri)]
    with Started(folder, "run", *uris, *options, "--output", "run.h5", np=np, env=env) as started:
        return started.wait(code)


def merged_by_merge(folder, name="run"):
    eventloom("merge", f"{name}.h5", "--output", "beside.h5", "--force", cwd=folder)
    return folder / "beside.h5"


@pytest.fixture(scope="module")
def apart(tmp_path_factory, sources, options):
    """The folder of a run without --merge, with the file that `merge` writes, beside.h5."""
    folder = tmp_path_factory.mktemp("apart")
    run_in(folder, sources, *options, "--builders", "2", "--report-json", "report.json", np=2)
    merged_by_merge(folder)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory, sources, options):
    """The folder of the same run with --merge."""
    folder = tmp_path_factory.mktemp("whole")
    run_in(folder, sources, *options, "--builders", "2", "--report-json", "report.json", "--merge", np=2)
    return folder


def assert_is(file, beside):
    """The file has every dataset and attribute of a merged file; further ones describe only how the run was done."""
    found, expected = content(file), content(beside)
    for name in expected.keys() - {"@setup"}:
        assert found.get(name) == expected[name], f"{file}: {name}"
    more = found.keys() - expected.keys()
    assert INVOCATIONS <= more
    assert {name.partition("/")[0].partition("@")[0] for name in more - INVOCATIONS} <= STATISTICS, more
    with h5py.File(file) as opened:
        assert opened.attrs["format"] == "eventloom-merged" and opened.attrs["closed"] == 1
        assert "parts" not in opened and opened["counters/name"].shape[0] > 0


def assert_one_file(folder, *others, name="run"):
    assert sorted(path.name for path in folder.glob(f"{name}*")) == sorted([f"{name}.h5", *others])


# What is in the file.

@pytest.mark.parametrize("np_, more", [(None, []), (3, ["--builders", "2", "--filters", "1", "--compress", "3"]),
                                       (2, ["--builders", "3", "--scratch", "scratch"])])
def test_equals_merge(tmp_path, sources, options, np_, more):
    reported = run_in(tmp_path / "whole", sources, *options, *more, "--merge", np=np_)
    run_in(tmp_path / "apart", sources, *options, *more, np=np_)
    assert len(parts(tmp_path / "apart")) > 3
    assert_is(tmp_path / "whole/run.h5", merged_by_merge(tmp_path / "apart"))
    assert_one_file(tmp_path / "whole")
    assert lines_with(reported, "output: run.h5")
    size = (tmp_path / "whole/run.h5").stat().st_size
    assert lines_with(reported, f"merged into 1 file of {size / 1e6:.1f} MB")
    assert not lines_with(reported, "part files,")


def test_all_that_the_run_had(apart, whole):
    """Everything in run.h5 apart from its parts; the numbers of the last invocation are its own."""
    assert_is(whole / "run.h5", apart / "beside.h5")
    with h5py.File(apart / "run.h5") as beside, h5py.File(whole / "run.h5") as file:
        assert set(beside.attrs) <= set(file.attrs) and set(beside) - {"parts"} <= set(file)
        assert file["hits/value"].dtype == "f8" and np.isfinite(file["hits/value"][:]).any()
        assert file["source_counters/value"][:].tolist() == beside["source_counters/value"][:].tolist()
        assert [path.decode() for path in file["invocations/folder"]] == [str(whole)]


def test_report_json(apart, whole):
    """As without --merge, apart from the parts, which no longer exist."""
    changing = {"seconds", "hits_per_second", "peak_rss_bytes", "setup", "in_force", "sent", "latency", "parts", "per_source"}
    found, expected = (json.loads((folder / "report.json").read_text()) for folder in (whole, apart))
    assert found.keys() == expected.keys()
    assert {k: v for k, v in found.items() if k not in changing} == {k: v for k, v in expected.items() if k not in changing}
    assert sum(part["events"] for part in expected["parts"]) == expected["totals"]["events"]
    assert found["parts"] == [] and not parts(whole)


# Commands.

def test_show(apart, whole):
    for words in (["--event", "7"], ["--summary"]):
        said, expected = (eventloom("show", name, *words, cwd=folder).stdout
                          for folder, name in ((whole, "run.h5"), (apart, "beside.h5")))
        assert [line for line in said.splitlines() if "began" not in line and "ended" not in line][-10:] == expected.splitlines()[-10:]


def test_hist(apart, whole):
    for name in ("n", "e"):
        said = [eventloom("hist", "run.h5", name, "--csv", cwd=folder).stdout for folder in (apart, whole)]
        assert said[0] == said[1] and len(said[0].splitlines()) > 10


def test_compare(apart, whole):
    for other in (apart / "run.h5", apart / "beside.h5"):
        assert "only in A" in eventloom("compare", whole / "run.h5", other).stdout


def test_inspect(apart, whole):
    found, expected = (json.loads(eventloom("inspect", folder / "run.h5", "--json").stdout) for folder in (whole, apart))
    for name in ("events", "hits", "payload_words", "ledger", "problems", "sources", "damaged"):
        assert found[name] == expected[name], name
    assert found["kind"] == "eventloom-merged" and not found["problems"] and not found["damaged"]


def test_inspect_finds_damage(whole, tmp_path):
    copy = shutil.copy(whole / "run.h5", tmp_path)
    flip(copy, "hits/channel")
    assert "/hits/channel" in eventloom("inspect", copy, code=3).stdout


def test_report(apart, whole):
    """The page shows all of a run with its parts, including the statistics of its ranks."""
    pages = []
    for folder in (whole, apart):
        eventloom("report", folder / "run.h5", "--output", folder / "page.html")
        pages.append(document_of(folder / "page.html"))
    found, expected = pages
    assert found.keys() == expected.keys() and found["run"].keys() == expected["run"].keys()
    for name in ("message", "ledger", "series", "channels", "spectra", "events", "histograms"):
        assert found[name] == expected[name], name
    assert found["balance"]["busy_s"] and found["balance"].keys() == expected["balance"].keys()


def test_merge_says_what_it_is(whole):
    before = state(whole)
    for words in ([], ["--partial"], ["--nexus"], ["--force"]):
        only_line(eventloom("merge", "run.h5", *words, code=2, cwd=whole), "run.h5", "one plain file already", "--to")
    assert state(whole) == before


def test_merge_to(apart, whole, tmp_path):
    """The same list-mode data, apart from the times of the runs in the file's header."""
    made = []
    for folder in (apart, whole):
        eventloom("merge", folder / "run.h5", "--to", f"lmd:{tmp_path / folder.name}.lmd")
        (path,) = tmp_path.glob(f"{folder.name}*.lmd")
        made.append(path.read_bytes()[200:])
    assert made[0] == made[1] and len(made[0]) > 100_000


def test_a_source_of_other_runs(whole, tmp_path):
    """The hits of its dataset."""
    eventloom("run", f"hdf5:{whole}/run.h5?group=/hits&unit=tick", "--define", "gap:50ns,4", "--output", tmp_path / "again.h5")
    with h5py.File(whole / "run.h5") as file, h5py.File(tmp_path / "again.h5") as again:
        assert again.attrs["hits_in"] == len(file["hits/time"])


# Later runs.

def flip(path, dataset):
    """Changes a byte of the dataset's values."""
    with h5py.File(path) as file:
        at = file[dataset].id.get_offset() or file[dataset].id.get_chunk_info(0).byte_offset
    data = bytearray(open(path, "rb").read())
    data[at + 1] ^= 8
    open(path, "wb").write(data)


@pytest.fixture
def finished(whole, tmp_path):
    """A copy of the run with --merge."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def test_resume_of_a_finished_one(finished, sources, options):
    before = state(finished)
    for more in ([], ["--merge"]):
        for np_ in (None, 3):
            reported = run_in(finished, sources, *options, "--builders", "2", "--resume", *more, np=np_)
            assert lines_with(reported, "run.h5", "the run is complete, there is nothing to resume"), reported
    assert state(finished) == before


def test_a_later_run(finished, sources, options):
    before = state(finished)
    for more in ([], ["--merge"]):
        reported = run_in(finished, sources, *options, *more, code=2)
        assert lines_with(reported, "run.h5", "exists", "--force"), reported
    assert state(finished) == before
    run_in(finished, sources, *DEFINE, "--force")
    assert parts(finished) and h5py.File(finished / "run.h5").attrs["format"] == "eventloom-run"
    run_in(finished, sources, *DEFINE, "--force", "--merge")
    assert_one_file(finished)
    before = (finished / "run.h5").stat().st_mtime_ns
    run_in(finished, sources, *DEFINE, "--resume", "--force", "--merge", np=2)
    assert_one_file(finished)
    assert (finished / "run.h5").stat().st_mtime_ns != before


def test_resume_with_another_input_or_definition(finished, sources, options):
    before = state(finished)
    reported = run_in(finished, sources[:2], *options, "--resume", code=2)
    assert lines_with(reported, "the number of sources was '3', is '2'"), reported
    reported = run_in(finished, sources, *["gap:60ns,4" if word == "gap:50ns,4" else word for word in options], "--resume", code=2)
    assert lines_with(reported, "--define was 'gap:50ns,4', is 'gap:60ns,4'"), reported
    assert state(finished) == before


def test_resume_of_a_damaged_one(finished, sources, options):
    flip(finished / "run.h5", "hits/time")
    before = state(finished)
    reported = run_in(finished, sources, *options, "--resume", "--merge", code=2)
    assert lines_with(reported, "run.h5", "/hits/time", "start over with --force"), reported
    assert state(finished) == before


def test_foreign_files_stay(tmp_path, sources):
    (tmp_path / "run.h5").write_text("mine\n")
    reported = run_in(tmp_path, sources, *DEFINE, "--merge", "--force", code=2)
    assert lines_with(reported, "run.h5") and (tmp_path / "run.h5").read_text() == "mine\n"


def test_the_merged_file_of_a_stopped_run_is_no_run(tmp_path, sources):
    with stopped(tmp_path, sources):
        pass
    eventloom("merge", "run.h5", "--partial", "--output", "partial.h5", code=3, cwd=tmp_path)
    shutil.move(tmp_path / "partial.h5", tmp_path / "run.h5")
    before = state(tmp_path)
    reported = run_in(tmp_path, sources, *DEFINE, *SLICED, "--resume", "--merge", code=2)
    assert lines_with(reported, "run.h5", "had not ended"), reported
    assert state(tmp_path) == before


# Together with other outputs.

def test_several_definitions(tmp_path, sources):
    run_in(tmp_path / "whole", sources, *NAMED, *SLICED, "--merge", np=2)
    run_in(tmp_path / "apart", sources, *NAMED, *SLICED, np=2)
    assert_one_file(tmp_path / "whole", "run.large.h5", "run.small.h5")
    for name in ("run.small", "run.large"):
        assert_is(tmp_path / f"whole/{name}.h5", merged_by_merge(tmp_path / "apart", name))
    with h5py.File(tmp_path / "whole/run.h5") as index:
        assert index.attrs["closed"] == 1 and len(index["small/events/time"]) > len(index["large/events/time"]) > 0
    reported = run_in(tmp_path / "whole", sources, *NAMED, *SLICED, "--merge", "--resume", np=2)
    assert len(lines_with(reported, "nothing to resume")) == 2


@pytest.mark.parametrize("kind", ["lmd", "hld"])
def test_list_mode_files(tmp_path, sources, kind):
    """The files are kept, belong to the run, and are replaced with it."""
    words = [*DEFINE, *SLICED, "--also", f"{kind}:events"]
    run_in(tmp_path, sources, *words, "--merge")
    assert_one_file(tmp_path)
    files = sorted(tmp_path.glob(f"events*.{kind}"))
    with h5py.File(tmp_path / "run.h5") as file:
        assert [name.decode() for name in file["event_files/name"]] == [path.name for path in files] and files
        assert sum(file["event_files/events"][:]) == file.attrs["events"]
    reported = run_in(tmp_path, sources, *words, "--merge", "--resume")
    assert lines_with(reported, "nothing to resume") and sorted(tmp_path.glob(f"events*.{kind}")) == files
    before = {path.stat().st_mtime_ns for path in files}
    run_in(tmp_path, sources, *words, "--merge", "--force")
    again = sorted(tmp_path.glob(f"events*.{kind}"))
    assert len(again) == len(files), "those of the earlier run are gone"
    assert before.isdisjoint(path.stat().st_mtime_ns for path in again), "they were written again"


def test_sorted_hits(tmp_path, sources):
    run_in(tmp_path, sources, *DEFINE, *SLICED, "--save-sorted", "sorted", "--merge", np=2)
    eventloom("run", "sorted:sorted", "--output", "again.h5", *DEFINE, "--merge", cwd=tmp_path)
    assert eventloom("compare", "run.h5", "again.h5", cwd=tmp_path).returncode == 0


def test_losses(tmp_path, sources):
    """Exit code 3, as without --merge."""
    for uri in sources:
        shutil.copy(uri.removeprefix("file:"), tmp_path)
    damaged = sorted(tmp_path.glob("*.epochs"))[1]
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 8
    damaged.write_bytes(data)
    uris = [f"file:{path}" for path in sorted(tmp_path.glob("*.epochs"))]
    run_in(tmp_path / "apart", uris, *DEFINE, *SLICED, np=2, code=3)
    run_in(tmp_path / "whole", uris, *DEFINE, *SLICED, "--merge", np=2, code=3)
    assert_is(tmp_path / "whole/run.h5", merged_by_merge(tmp_path / "apart"))
    reported = run_in(tmp_path / "whole", uris, *DEFINE, *SLICED, "--merge", "--resume", code=3)
    assert lines_with(reported, "nothing to resume")


def test_live_input(tmp_path):
    """SIGINT ends a live run, which then merges; a later --resume neither waits for the source nor builds anything."""
    def behave(connection):
        connection.send(layout.handshake())
        for number in range(1, 41):
            event = Event(number, [Subevent(1, white_rabbit(10**15 + 2_000_000 * number))])
            connection.send(b"".join(part for group in layout.buffers([event], number) for part in group))
        connection.wait_for_client()

    layout, words = Layout(), ["--define", "gap:1us,1", "--segment-size", "1", "--merge"]
    with Server(behave) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport?time=wr"]
        with LiveRun(tmp_path, uris, *words) as run:
            run.until_parts(5)
            run.signal(signal.SIGINT)
            run.wait(0)
    assert_one_file(tmp_path)
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["format"] == "eventloom-merged" and file.attrs["events"] == len(file["events/time"]) >= 5
    before = state(tmp_path)
    with LiveRun(tmp_path, uris, *words, "--resume") as run:
        assert lines_with(run.wait(0), "nothing to resume")
    assert state(tmp_path) == before


def test_no_events(tmp_path, sources):
    run_in(tmp_path, sources, "--define", "gap:1,1000", "--merge")
    assert len(read_merged(tmp_path / "run.h5")["events/time"]) == 0
    assert_one_file(tmp_path)


# Interrupted.

@contextlib.contextmanager
def stopped(folder, sources, *more, np=None):
    """A run of several parts that was stopped; yields its messages."""
    uris = [word for uri in sources for word in ("--source", uri)]
    with Started(folder, "run", *uris, *DEFINE, "--epochs-per-slice", "20", "--segment-size", "1", "--speed", "0.02", *more, "--output", "run.h5", np=np) as started:
        started.until_parts(3)
        started.send(signal.SIGUSR1, 0)
        yield started.wait(STOPPED)


@pytest.mark.parametrize("np_", [None, 2])
def test_a_stopped_run_is_not_merged(tmp_path, sources, np_):
    with stopped(tmp_path, sources, "--merge", np=np_):
        assert parts(tmp_path) and h5py.File(tmp_path / "run.h5").attrs["format"] == "eventloom-run"
    run_in(tmp_path, sources, *DEFINE, *SLICED, "--merge", "--resume", np=np_)
    assert_one_file(tmp_path)
    run_in(tmp_path / "apart", sources, *DEFINE, *SLICED, np=np_)
    assert_is(tmp_path / "run.h5", merged_by_merge(tmp_path / "apart"))


def test_resume_merges_a_run_that_had_ended(tmp_path, sources, apart, options):
    shutil.copytree(apart, tmp_path / "copy")
    reported = run_in(tmp_path / "copy", sources, *options, "--builders", "2", "--resume", "--merge", np=2)
    assert lines_with(reported, "nothing to resume")
    assert_one_file(tmp_path / "copy")
    assert_is(tmp_path / "copy/run.h5", apart / "beside.h5")


# A run renames the first version of run.h5 to a free name (renameat2), and later ones over it.
MOMENTS = {"begin": {"call": "open", "path": "run.h5.partial", "at": 3}, "before the name": {"call": "rename", "path": "run.h5", "at": 2},
           "before the first part": {"call": "unlink", "path": "run.part-0000-0000.h5"},
           "between parts": {"call": "unlink", "path": "run.part-0001-0000.h5"}}


@pytest.mark.parametrize("finish", ["run", "merge"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed(tmp_path, sources, apart, options, moment, finish):
    """Nothing is lost, and the next --resume or merge completes it."""
    folder, log = tmp_path / "run", tmp_path / "log"
    uris = [word for uri in sources for word in ("--source", uri)]
    words = ["run", *uris, *options, "--builders", "2", "--output", "run.h5", "--merge"]
    with Started(folder, *words, env=injecting(log, do="kill", **MOMENTS[moment])) as started:
        started.wait(-signal.SIGKILL)
    assert failures_in(log), "nothing was killed"
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["closed"] == 1
        merged = file.attrs["format"] == "eventloom-merged"
    assert merged == ("part" in moment)
    left = len(parts(folder))
    assert left > 3
    assert eventloom("compare", folder / "run.h5", apart / "run.h5").returncode == 0, "it can be read as it is"
    if finish == "merge" and merged:
        only_line(eventloom("merge", "run.h5", code=2, cwd=folder), "one plain file already", "--resume")
    if finish == "run" or merged:
        reported = run_in(folder, sources, *options, "--builders", "2", "--resume", *(["--merge"] if finish == "run" else []))
        assert lines_with(reported, "nothing to resume"), reported
        assert_one_file(folder)
        assert_is(folder / "run.h5", apart / "beside.h5")
    else:
        found, expected = (content(path, ignore=("merge", "report-json")) for path in (merged_by_merge(folder), apart / "beside.h5"))
        assert found == expected


def test_killed_between_definitions(tmp_path, sources):
    """One is merged, the other not yet."""
    log = tmp_path / "log"
    uris = [word for uri in sources for word in ("--source", uri)]
    folder = tmp_path / "run"
    with Started(folder, "run", *uris, *NAMED, *SLICED, "--output", "run.h5", "--merge",
                 env=injecting(log, do="kill", call="unlink", path="run.small.part-0000-0001.h5")) as started:
        started.wait(-signal.SIGKILL)
    formats = {name: h5py.File(folder / f"run.{name}.h5").attrs["format"] for name in ("small", "large")}
    assert sorted(formats.values()) == ["eventloom-merged", "eventloom-run"], formats
    reported = run_in(folder, sources, *NAMED, *SLICED, "--resume", "--merge", np=2)
    assert len(lines_with(reported, "nothing to resume")) == 2, reported
    assert_one_file(folder, "run.large.h5", "run.small.h5")
    run_in(tmp_path / "apart", sources, *NAMED, *SLICED)
    for name in ("run.small", "run.large"):
        assert_is(folder / f"{name}.h5", merged_by_merge(tmp_path / "apart", name))


def test_a_damaged_part_beside_a_merged_definition(tmp_path, sources):
    """The part cannot be rebuilt without the other definition: one line reports that, and nothing is changed."""
    log, folder = tmp_path / "log", tmp_path / "run"
    uris = [word for uri in sources for word in ("--source", uri)]
    with Started(folder, "run", *uris, *NAMED, *SLICED, "--output", "run.h5", "--merge",
                 env=injecting(log, do="kill", call="unlink", path="run.small.part-0000-0001.h5")) as started:
        started.wait(-signal.SIGKILL)
    flip(sorted(folder.glob("run.large.part-*.h5"))[0], "hits/time")
    for lock in folder.glob("*.lock"):
        lock.unlink()
    before = state(folder)
    reported = run_in(folder, sources, *NAMED, *SLICED, "--resume", "--merge", code=2)
    assert lines_with(reported, "run.small.h5", "is merged", "--force"), reported
    assert state(folder) == before


@pytest.mark.parametrize("np_", [None, 3])
def test_a_part_is_damaged_when_it_is_merged(tmp_path, sources, apart, options, np_):
    """The run has ended: exit code 2, and --resume rebuilds the part and merges."""
    shutil.copytree(apart, tmp_path / "copy")
    folder = tmp_path / "copy"
    (folder / "beside.h5").unlink()
    flip(parts(folder)[1], "hits/channel")
    reported = run_in(folder, sources, *options, "--builders", "2", "--resume", "--merge", np=np_)
    assert lines_with(reported, parts(apart)[1].name, "is built again"), reported
    assert sorted(path.name for path in folder.glob("run*")) == ["run.h5", f"{parts(apart)[1].name}.damaged"]
    assert_is(folder / "run.h5", apart / "beside.h5")


@pytest.mark.parametrize("np_", [None, 2])
def test_a_signal_while_it_merges(tmp_path, sources, options, apart, np_):
    """The signal ends it at once; the parts are kept."""
    log, go = tmp_path / "log", tmp_path / "log.go"
    uris = [word for uri in sources for word in ("--source", uri)]
    words = ["run", *uris, *options, "--builders", "2", "--output", "run.h5", "--merge"]
    folder = tmp_path / "run"
    with Started(folder, *words, np=np_, env=injecting(log, do="wait", call="rename", path="run.h5", at=2)) as started:
        ranks = started.ranks()
        until(lambda: len(failures_in(log)) > 0, "the last rename", so_far=started.text)
        started.send(signal.SIGTERM, 0)
        started.wait(STOPPED)
        until(lambda: all(gone(pid) for pid in ranks.values()), "all ranks gone", 10)
    go.touch()
    assert parts(folder) and h5py.File(folder / "run.h5").attrs["format"] == "eventloom-run"
    run_in(folder, sources, *options, "--builders", "2", "--resume", "--merge", np=np_)
    assert_one_file(folder)
    assert_is(folder / "run.h5", apart / "beside.h5")


def test_the_other_ranks_sleep(tmp_path, sources, options):
    """While rank 0 merges, which here takes as long as the test observes the others."""
    log = tmp_path / "log"
    uris = [word for uri in sources for word in ("--source", uri)]
    with Started(tmp_path / "run", "run", *uris, *options, "--output", "run.h5", "--merge", np=3,
                 env=injecting(log, do="wait", call="rename", path="run.h5", at=2)) as started:
        ranks = started.ranks()
        until(lambda: failures_in(log), "the last rename", so_far=started.text)
        for rank in (1, 2):
            until(lambda: [state_of(ranks[rank]) for _ in range(500)].count("S") > 250, f"rank {rank} sleeps", 20)
        (tmp_path / "log.go").touch()
        started.wait(0)
    assert_one_file(tmp_path / "run")


# Disks.

@needs_root
@pytest.mark.parametrize("np_", [None, 3])
def test_a_full_disk(tmp_path, sources, apart, options, np_):
    """The parts fit, the merged file beside them does not."""
    size = sum(path.stat().st_size for path in [*parts(apart), apart / "run.h5", apart / "run.h5"])
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size + (1 << 17)}", "tmpfs", folder], check=True, timeout=20)
    try:
        reported = run_in(folder, sources, *options, "--builders", "2", "--merge", np=np_, code=2)
        assert lines_with(reported, "run.h5.partial", "No space left", "--resume"), reported
        assert lines_with(reported, "output: run.h5"), "the summary"
        assert parts(folder) and not list(folder.glob("*.partial"))
        assert eventloom("compare", folder / "run.h5", apart / "run.h5").returncode == 0
        before = state(folder)
        run_in(folder, sources, *options, "--builders", "2", "--merge", "--resume", np=np_, code=2)
        assert state(folder) == before
        subprocess.run(["mount", "-o", "remount,size=128m", folder], check=True, timeout=20)
        run_in(folder, sources, *options, "--builders", "2", "--merge", "--resume", np=np_)
        assert_one_file(folder)
        assert_is(folder / "run.h5", apart / "beside.h5")
    finally:
        subprocess.run(["umount", "-l", folder], check=True, timeout=20)


def test_the_cost_is_reported():
    said = " ".join(subprocess.run([BINARY, "run", "--help"], env=environment(), text=True, capture_output=True, check=True).stdout.split())
    assert "--merge" in said and "reads and writes all data once more" in said
