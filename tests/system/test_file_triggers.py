"""LMD and HLD files that begin and end with events of given trigger types, after a run and beside it."""

import random
import resource
import signal

import pytest

import hld_reference
import lmd_reference
from event_files import read_hld_files, read_lmd_files
from program import eventloom, only_line
from test_also import Job, beside_parts
from test_event_files import SHORT, built, merge_to

BEGIN, END = (12, 14), (13, 14)
KEYS = "begin=12,14&end=13,14"
READ = {"lmd": read_lmd_files, "hld": read_hld_files}
SLICES = [*SHORT, "--epoch", 7]
KINDS = pytest.mark.parametrize("kind", ["lmd", "hld"])


def recording(folder, kind, n_events=400, special=0.1, spacing=None):
    """Rising numbers; some triggers are special. Returns source and triggers.

    `spacing`: LMD events have time stamps, so many ns apart.
    """
    dice = random.Random(5)
    triggers = [dice.choice((12, 13, 14, 15)) if dice.random() < special else 1 for _ in range(n_events)]
    path = folder / f"source.{kind}"
    if kind == "lmd":
        of = [lmd_reference.Event(n, [lmd_reference.Subevent(3, [n] * dice.randint(1, 40))], trigger)
              for n, trigger in enumerate(triggers, 1)]
        for event in of if spacing else []:
            event.subevents.insert(0, lmd_reference.Subevent(1, lmd_reference.white_rabbit(event.number * spacing)))
        path.write_bytes(lmd_reference.flat_file(of))
    else:
        of = [hld_reference.Event(n, [hld_reference.Subevent(3, [n] * dice.randint(1, 40), trigger_number=n << 8)], 0x2000 | trigger)
              for n, trigger in enumerate(triggers, 1)]
        path.write_bytes(hld_reference.hld_file(of))
    return [f"{kind}:{path}"], triggers


def first_numbers(triggers, begin=BEGIN, end=END):
    """The first numbers of each file, by the meaning of the keys: event numbers are 1, 2, ..."""
    return [n for n, trigger in enumerate(triggers, 1) if n == 1 or trigger in begin or triggers[n - 2] in end]


def contents(files, kind):
    return [[event.number for event in READ[kind]([file])] for file in files]


def assert_files(files, kind, firsts, n_events):
    found = contents(files, kind)
    assert [numbers[0] for numbers in found] == firsts
    assert [n for numbers in found for n in numbers] == [*range(1, n_events + 1)]


@KINDS
@pytest.mark.parametrize("keys, begin, end", [(KEYS, BEGIN, END), ("begin=12", (12,), ()), ("end=15", (), (15,)), ("begin=9", (), ())])
def test_after_a_run(tmp_path, kind, keys, begin, end):
    sources, triggers = recording(tmp_path, kind)
    files = merge_to(f"{kind}:{tmp_path}/out?{keys}", built(tmp_path, sources).output)
    assert_files(files, kind, first_numbers(triggers, begin, end), len(triggers))


@KINDS
@pytest.mark.parametrize("options", [[], SLICES], ids=["one slice", "many slices"])
def test_beside_a_run(tmp_path, kind, options):
    """Whatever the slices are: a file may end within one. Files of the other format end by size alone."""
    other = "hld" if kind == "lmd" else "lmd"
    sources, triggers = recording(tmp_path, kind)
    built(tmp_path, sources, *options, "--also", f"{kind}:{tmp_path}/out?{KEYS}", "--also", f"{other}:{tmp_path}/other")
    assert_files(sorted(tmp_path.glob("out*")), kind, first_numbers(triggers), len(triggers))
    assert len(list(tmp_path.glob("other*"))) == 1


@KINDS
@pytest.mark.parametrize("options", [[], SLICES], ids=["one slice", "many slices"])
def test_files_that_are_too_long_as_well(tmp_path, kind, options):
    sources, triggers = recording(tmp_path, kind, n_events=6000, special=0.005)
    built(tmp_path, sources, *options, "--also", f"{kind}:{tmp_path}/out?size=64KiB&end=15")
    files = sorted(tmp_path.glob("out*"))
    found = contents(files, kind)
    assert max(file.stat().st_size for file in files) <= 65536
    assert [n for numbers in found for n in numbers] == [*range(1, len(triggers) + 1)]
    by_trigger = set(first_numbers(triggers, (), (15,)))
    by_size = {numbers[0] for numbers in found} - by_trigger
    assert by_trigger <= {numbers[0] for numbers in found} and by_size


def test_they_end_with_their_parts_too(tmp_path):
    """A run that is resumed after a kill has each event once, and the same rule applies."""
    sources, triggers = recording(tmp_path, "lmd", spacing=20_000)
    parts = ["--segment-size", 1]
    job = Job(tmp_path, [f"{sources[0]}?time=wr"], "--define", "gap:1us,1", "--epochs-per-slice", 1, "--epoch", "200us", "--also", f"lmd:out?{KEYS}")
    with job.start("--speed", 0.002, *parts) as started:
        started.until_parts(6)
        started.send(signal.SIGKILL, 0)
        started.process.wait(60)
    job.resume(*parts)
    of_parts = beside_parts(tmp_path / "run.h5")
    files = [tmp_path / name for group in of_parts.values() for name in group]
    assert sorted(files) == sorted(tmp_path.glob("out*"))
    found = contents(files, "lmd")
    assert [n for numbers in found for n in numbers] == [*range(1, len(triggers) + 1)]
    of_new_parts = {contents([tmp_path / group[0]], "lmd")[0][0] for group in of_parts.values()}
    assert {numbers[0] for numbers in found} == of_new_parts | set(first_numbers(triggers))


def test_more_files_than_may_be_open(tmp_path):
    """The files of a part are open until it ends."""
    sources, triggers = recording(tmp_path, "lmd", n_events=1500, special=1)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, before[1]))
    try:
        built(tmp_path, sources, *SLICES, "--also", f"lmd:{tmp_path}/out?end=12,13,14,15")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert_files(sorted(tmp_path.glob("out*")), "lmd", [*range(1, len(triggers) + 1)], len(triggers))


def test_several_writers_are_refused(tmp_path):
    """Each writer would miss the special events of the others."""
    sources, _ = recording(tmp_path, "lmd")
    for writers in (["--builders", 2], ["--builders", 1, "--filters", 2]):
        done = eventloom("run", *sources, "--define", "tag", *writers, "--also", f"lmd:{tmp_path}/out?end=13",
                         "--output", tmp_path / "run.h5", code=2)
        only_line(done, "--also", "begin= and end=", "--builders 1", "merge --to")
        assert not list(tmp_path.glob("run*")) and not list(tmp_path.glob("out*"))
