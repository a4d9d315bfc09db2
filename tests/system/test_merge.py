"""merge: of a stopped run, what it has finished and what is missing; how the merged file is stored; mistakes."""

import re
import shutil
import signal

import h5py
import numpy as np
import pytest

from interrupted import STOPPED, Started, parts
from program import Run, eventloom, generate, only_line
from results import LEDGER_COLUMNS, assert_balanced, event_keys, read_ledger, read_merged

DEFINE = ["--define", "gap:100,4"]
SLICE = 200_000  # ticks
OPTIONS = [*DEFINE, "--builders", "2", "--epochs-per-slice", "20"]
STRINGS = ("format", "setup", "definition", "filters", "eventloom_version", "mpi_version", "ucx_version", "hdf5_version", "hosts",
           "commands", "times_are")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), sources=3, rate=20_000, hits=8, width="50ns", noise=500_000,
                    duration="100ms", payload=1, seed=11)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    return Run(tmp_path_factory.mktemp("run"), sources, *OPTIONS, "--compress", 3, np=2)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory, sources):
    """The folder of an interrupted run of two writers, with many parts."""
    folder = tmp_path_factory.mktemp("stopped")
    words = [word for uri in sources for word in ("--source", uri)]
    with Started(folder, "run", *words, *OPTIONS, "--segment-size", "1", "--speed", "0.003") as started:
        started.until_parts(12)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    return folder


def copy_of(stopped, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder, ignore=shutil.ignore_patterns("partial.h5"))
    return folder


def slices_of(paths):
    return sorted(int(s) for path in paths for s in read_ledger(path)["slice"])


def assert_partial(folder, whole):
    """The merged file has the contents of the finished parts, and states that. Returns its text on what is missing."""
    target = folder / "partial.h5"
    done = eventloom("merge", folder / "run.h5", "--partial", "--output", target, "--force", code=3)
    finished = slices_of(parts(folder))
    ledger = read_ledger(target)
    assert ledger["slice"].tolist() == finished
    assert_balanced(ledger)
    all_events, found = read_merged(whole), read_merged(target)
    here = np.isin(all_events["events/time"] // SLICE, finished)
    assert event_keys(found) == [key for key, kept in zip(event_keys(all_events), here) if kept]
    with h5py.File(target) as file:
        assert file.attrs["closed"] == 0 and file.attrs["format"] == "eventloom-merged"
        assert file.attrs["missing"] in done.stdout
        assert [file.attrs[name] for name in LEDGER_COLUMNS] == [ledger[name].sum() for name in LEDGER_COLUMNS]
        assert (file.attrs["events"], file.attrs["slices"]) == (here.sum(), len(finished))
        return file.attrs["missing"]


def test_partial(stopped, run):
    missing = assert_partial(stopped, run.merged)
    finished = slices_of(parts(stopped))
    first, last = map(int, re.search(r"slices (\d+) to (\d+) are finished", missing).groups())
    assert first == finished[0] and missing.endswith("all others are missing")
    assert finished[:last - first + 1] == [*range(first, last + 1)], "a slice of these is not finished"
    assert last + 1 not in finished


def test_partial_with_a_hole(stopped, run, tmp_path):
    """A part without its final name may not be on disk."""
    folder = copy_of(stopped, tmp_path)
    lost = parts(folder)[3]
    gone = slices_of([lost])
    lost.rename(lost.with_suffix(".h5.partial"))
    missing = assert_partial(folder, run.merged)
    finished = slices_of(parts(folder))
    _, last = map(int, re.search(r"slices (\d+) to (\d+) are finished", missing).groups())
    assert last == gone[0] - 1
    beyond = [s for s in finished if s > last]
    assert f"and {len(beyond)} of the slices {gone[0] + 1} to {beyond[-1]}" in missing


def test_partial_is_reported_everywhere(stopped, run):
    missing = assert_partial(stopped, run.merged)
    target = stopped / "partial.h5"
    assert missing in eventloom("inspect", target, code=3).stdout
    assert missing in eventloom("show", target, "--summary").stdout
    said = eventloom("compare", target, run.output, code=3).stdout
    assert f"note: A: {missing}" in said and re.search(r"only in A +0\n", said) and re.search(r"in both, but different +0\n", said)
    assert missing in eventloom("report", target, "--output", stopped / "page.html").stdout


def test_partial_of_a_damaged_part(stopped, tmp_path):
    folder = copy_of(stopped, tmp_path)
    part = parts(folder)[2]
    with h5py.File(part) as file:
        at = file["hits/time"].id.get_chunk_info(0).byte_offset
    data = bytearray(part.read_bytes())
    data[at + 1] ^= 8
    part.write_bytes(data)
    target = folder / "partial.h5"
    only_line(eventloom("merge", folder / "run.h5", "--partial", "--output", target, code=2), part.name, "/hits/time")
    assert not target.exists()


def test_without_partial_a_stopped_run_is_refused(stopped):
    target = stopped / "whole.h5"
    only_line(eventloom("merge", stopped / "run.h5", "--output", target, code=2), "--resume", "--partial")
    assert not target.exists()


def test_nothing_finished(tmp_path, stopped):
    folder = copy_of(stopped, tmp_path)
    for path in folder.glob("run.part*"):
        path.unlink()
    done = eventloom("merge", folder / "run.h5", "--partial", "--output", folder / "partial.h5", code=3)
    assert "nothing of it was finished" in done.stdout
    assert len(read_merged(folder / "partial.h5")["events/time"]) == 0


def test_partial_of_a_whole_run_is_the_whole(run):
    target = run.output.parent / "partial.h5"
    eventloom("merge", run.output, "--partial", "--output", target)
    assert target.read_bytes() == run.merged.read_bytes()


@pytest.mark.parametrize("options, level", [([], 3), (["--compress", "0"], None), (["--compress", "7"], 7)])
def test_compression_is_that_of_the_run_unless_given(run, options, level):
    target = run.output.parent / f"level{level}.h5"
    eventloom("merge", run.output, "--output", target, *options)
    with h5py.File(target) as file:
        assert {file[name].compression_opts for name in ("events/time", "hits/channel", "payload")} == {level}


def test_texts_are_strings(run):
    """h5py returns str, not bytes."""
    def texts(item):
        for name, value in item.attrs.items():
            assert not isinstance(value, (bytes, np.bytes_)) and getattr(value, "dtype", np.dtype("u8")).kind in "uO", (item.name, name)
            for text in value if isinstance(value, np.ndarray) else [value]:
                assert isinstance(text, (str, np.integer)), (item.name, name, type(text))
            if isinstance(value, str):
                kind = item.attrs.get_id(name).get_type()
                assert kind.is_variable_str() and kind.get_cset() == h5py.h5t.CSET_UTF8, (item.name, name)

    for path in (run.output, run.merged, *parts(run.output.parent)):
        with h5py.File(path) as file:
            texts(file)
            file.visititems(lambda _, item: texts(item))
            if path in (run.output, run.merged):
                assert set(STRINGS) <= set(file.attrs) and file.attrs["definition"] == "gap:100,4"
            if "events" in file:
                assert "one more than there are events" in file["events/first_hit"].attrs["meaning"]


def test_files_of_earlier_versions_are_read(run, tmp_path):
    """They have fixed-length texts."""
    folder = tmp_path / "old"
    shutil.copytree(run.output.parent, folder)
    for path in (folder / "run.h5", folder / "merged.h5"):
        with h5py.File(path, "r+") as file:
            for name in [name for name, value in file.attrs.items() if isinstance(value, str)]:
                file.attrs[name] = np.bytes_(file.attrs[name].encode())
            file.attrs["hosts"] = np.array([host.encode() for host in file.attrs["hosts"]], dtype="S12")
    eventloom("merge", folder / "run.h5", "--output", folder / "again.h5")
    assert eventloom("compare", folder / "again.h5", folder / "merged.h5").returncode == 0
    with h5py.File(folder / "again.h5") as file:
        assert file.attrs["definition"] == "gap:100,4" and file["hits/time"].compression_opts == 3


def test_foreign_and_read_files_are_left_alone(run, tmp_path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("mine\n")
    part = parts(run.output.parent)[0]
    for target in (foreign, run.output, part):
        before = target.read_bytes()
        for options in ([], ["--force"], ["--nexus", "--force"], ["--partial", "--force"]):
            only_line(eventloom("merge", run.output, "--output", target, *options, code=2), target.name)
        assert target.read_bytes() == before


def test_a_merged_file_that_the_run_has_read(run, tmp_path):
    """The file is Eventloom's own, and is kept although it is named from another folder."""
    first = tmp_path / "data/first.h5"
    first.parent.mkdir()
    shutil.copy(run.merged, first)
    eventloom("run", "hdf5:first.h5?group=/hits&unit=tick", "--define", "gap:100,2", "--output", "run.h5", cwd=first.parent)
    before = first.read_bytes()
    for cwd, output, target in [(first.parent, "run.h5", "first.h5"), (tmp_path, "data/run.h5", "data/first.h5")]:
        only_line(eventloom("merge", output, "--output", target, "--force", code=2, cwd=cwd), "a source of the run")
        assert first.read_bytes() == before


def test_the_same_job_in_another_folder(sources, tmp_path):
    """The same bytes: only run.h5 states the folder of the call."""
    merged = set()
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        for uri in sources:
            shutil.copy(str(uri).removeprefix("file:"), folder)
        eventloom("run", "*.epochs", *DEFINE, "--output", "run.h5", cwd=folder)
        eventloom("merge", "run.h5", cwd=folder)
        merged.add((folder / "run.merged.h5").read_bytes())
        with h5py.File(folder / "run.h5") as file:
            assert [path.decode() for path in file["invocations/folder"]] == [str(folder)]
    assert len(merged) == 1


def test_mistakes(run):
    for words in (["--compress", "10"], ["--compress", "-1"], ["--compress", "x"]):
        only_line(eventloom("merge", run.output, *words, code=2), "--compress")
    only_line(eventloom("merge", run.merged, "--partial", "--output", run.output.parent / "x.h5", code=2), "one plain file already")
