"""What earlier versions have written stays readable: tests/data/older has outputs of some of them, all of the same hits.

Today's program reads them with every command; the events are those that numpy finds in the hits of tests/support/older.py.
"""

import json
import re
import shutil

import h5py
import numpy as np
import pytest

import older
import reference
from event_files import assert_events, read_lmd_files
from lmd_reference import encode
from mbs import Serving
from program import DATA, eventloom
from results import assert_balanced, assert_same, read_ledger, read_merged

KEPT = DATA / "older"
VERSIONS = sorted(path.name for path in KEPT.iterdir() if path.is_dir())
OVERLAP = 10_000
SLICES = ["--epochs-per-slice", "2"]
OUTPUTS = ["run.h5", "merged.h5"]


def having(name):
    """Versions of which such an output is kept."""
    return [version for version in VERSIONS if (KEPT / version / name).exists()]


@pytest.fixture
def folder(tmp_path, version):
    """A copy of the stored output of a version."""
    return shutil.copytree(KEPT / version, tmp_path / version)


def hits():
    streams = [list(zip(*older.stream(source))) for source in range(older.SOURCES)]
    return reference.weave([reference.hits_of(time, channel, payload=payload) for time, channel, payload in streams])


def expected(definition="gap:25,4"):
    return reference.merged_file(reference.find_events(hits(), definition, OVERLAP))


def assert_found(merged, definition="gap:25,4"):
    assert_same(read_merged(merged), expected(definition))


def merge(folder, run, name="merged_today.h5"):
    eventloom("merge", folder / run, "--output", folder / name)
    return folder / name


def build(folder, name, *sources, definition="gap:25ns,4"):
    """Merged events of a run with today's program."""
    eventloom("run", *sources, "--define", definition, *SLICES, "--output", folder / f"{name}.h5")
    return merge(folder, f"{name}.h5", f"{name}.merged.h5")


def test_of_each_version_there_is_a_run_with_its_parts_and_what_it_read():
    assert len(VERSIONS) >= 3
    for version in VERSIONS:
        names = {path.name for path in (KEPT / version).iterdir()}
        assert {"run.h5", "merged.h5", "run.part-0000-0000.h5", "source_0.epochs", "stopped.h5"} <= names


@pytest.mark.parametrize("version", VERSIONS)
class TestRunsAndMergedFiles:
    def test_merge_makes_the_events_of_the_parts(self, folder):
        merged = merge(folder, "run.h5")
        assert_found(merged)
        assert_balanced(read_ledger(merged))

    def test_the_merged_file_has_always_had_the_same_columns(self, folder):
        assert_found(folder / "merged.h5")

    @pytest.mark.parametrize("name", OUTPUTS)
    def test_compare_finds_the_events_of_a_run_of_today(self, folder, name):
        today = build(folder, "today", *(f"file:{folder}/source_{n}.epochs" for n in range(older.SOURCES)))
        compared = json.loads(eventloom("compare", folder / name, today, "--json").stdout)
        assert (compared["same"], compared["differs"]) == (older.EVENTS, False)
        assert compared["a"]["ledger"] == compared["b"]["ledger"]

    @pytest.mark.parametrize("name", OUTPUTS)
    def test_show_shows_an_event_and_all_of_them(self, folder, name):
        text = eventloom("show", folder / name, "--event", 7).stdout
        assert str(expected()["events/time"][7]) in text
        assert f"{older.EVENTS} events" in eventloom("show", folder / name, "--summary").stdout

    @pytest.mark.parametrize("name", OUTPUTS)
    def test_report_draws_them(self, folder, name):
        eventloom("report", folder / name, "-o", folder / "report.html")
        assert "gap:25ns,4" in (folder / "report.html").read_text()

    @pytest.mark.parametrize("name", [*OUTPUTS, "run.part-0000-0000.h5", "source_0.epochs"])
    def test_inspect_finds_nothing_wrong(self, folder, name):
        found = json.loads(eventloom("inspect", folder / name, "--json").stdout)
        assert not found["damaged"] and found["problems"] == []
        if name == "run.h5":
            assert (found["events"], found["hits"]) == (older.EVENTS, older.EVENTS * older.SOURCES * older.HITS)

    @pytest.mark.parametrize("name", OUTPUTS)
    def test_they_are_written_as_list_mode_and_served_as_a_run_of_today_is(self, folder, name):
        build(folder, "today", *(f"file:{folder}/source_{n}.epochs" for n in range(older.SOURCES)))
        eventloom("merge", folder / "today.h5", "--to", f"lmd:{folder}/today")
        eventloom("merge", folder / name, "--to", f"lmd:{folder}/older")
        files = [[path for path in sorted(folder.glob(f"{which}*.lmd"))] for which in ("today", "older")]
        today, before = ([encode(event) for event in read_lmd_files(names)] for names in files)
        assert len(today) == older.EVENTS
        assert_events(before, today)
        with Serving(folder, folder / name, "--once") as serving, serving.client() as client:
            assert_events(client.events(), today)
            assert serving.ended(0).sent_events == older.EVENTS

    @pytest.mark.parametrize("name", OUTPUTS)
    def test_the_python_package_reads_them(self, folder, name, package):
        with package.open(folder / name) as run:
            assert len(run) == older.EVENTS and len(run.sources) == older.SOURCES
            assert run.totals["hits_in"] == len(hits())
            wanted = expected()
            assert [event.time for event in run] == wanted["events/time"].tolist()
            assert np.array_equal(np.concatenate([event.hits.channel for event in run]), wanted["hits/channel"])

    def test_another_version_of_the_format_is_refused_by_number(self, folder):
        with h5py.File(folder / "run.h5", "a") as file:
            file.attrs["format_version"] = np.uint64(2)
        done = eventloom("merge", folder / "run.h5", code=2)
        assert "format version 2, this program reads version 1" in done.stderr


@pytest.mark.parametrize("version", VERSIONS)
class TestRecordings:
    def test_epochs_files_are_built(self, folder):
        assert_found(build(folder, "today", *(f"file:{folder}/source_{n}.epochs" for n in range(older.SOURCES))))

    def test_a_stopped_run_is_resumed_where_its_version_lists_what_is_finished(self, folder):
        parts = len(list(folder.glob("stopped.part-*.h5"))) if list(folder.glob("stopped*.list")) else 0
        done = eventloom("run", "--source", "file:source_*.epochs", "--define", "gap:25ns,4", *SLICES,
                         "--compress", "9", "--output", "stopped.h5", "--resume", cwd=folder)
        finished = rf"\d+ slices in {parts} parts are finished" if parts else "nothing of it is finished"
        assert re.search(f"resuming 'stopped.h5': {finished}", done.stderr)
        assert_found(merge(folder, "stopped.h5"))


@pytest.mark.parametrize("version", having("stopped.part-0000.list"))
def test_the_python_package_reads_the_finished_parts_of_stopped_runs(folder, package):
    with package.open(folder / "stopped.h5") as run:
        assert 0 < len(run) < older.EVENTS
        assert [event.time for event in run] == expected()["events/time"][:len(run)].tolist()


@pytest.mark.parametrize("version", having("sorted"))
def test_sorted_streams_are_built(folder):
    assert_found(build(folder, "today", f"sorted:{folder}/sorted"))


@pytest.mark.parametrize("version", having("record"))
def test_recorded_boards_are_built(folder):
    """The one board that was recorded."""
    merged = build(folder, "today", f"file:{folder}/record/source-0000.epochs", definition="gap:25ns,3")
    source = list(zip(*older.stream(0)))
    events = reference.find_events(reference.weave([reference.hits_of(source[0], source[1], payload=source[2])]), "gap:25,3",
                                   OVERLAP)
    assert_same(read_merged(merged), reference.merged_file(events))


@pytest.mark.parametrize("version", having("kinds.h5"))
def test_runs_of_several_definitions_are_merged_by_the_name_of_each(folder):
    for name, definition in (("near", "gap:25,4"), ("many", "multiplicity:50,6")):
        assert_found(merge(folder, f"kinds.{name}.h5", f"{name}.h5"), definition)
    said = eventloom("inspect", folder / "kinds.h5", code=2).stderr
    assert "give 'kinds.near.h5' or 'kinds.many.h5', beside it" in said
