"""The Python package refuses damaged files of runs, or ones that the run does not list, in one line that names them."""

import os
import re
import shutil

import h5py
import numpy as np
import pytest

from interrupted import parts
from program import DATA
from results import read_merged
from test_python import assert_reads, one_line, run, sources  # noqa: F401


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run.output.parent, tmp_path / "copy")


@pytest.fixture
def older(tmp_path):
    """A small run of two parts, and its merged file."""
    return shutil.copytree(DATA / "older" / "64c9316", tmp_path / "older")


def all_of(package, path):
    """Reads everything, and returns what must be right."""
    with package.open(path) as run:
        pandas = run.to_pandas()
        for name in ("alarms", "builders", "clocks", "counters", "detector", "latency", "rates", "source_counters"):
            run.table(name)
        assert len(run.ledger) == run.totals.get("slices", len(run.ledger)) and type(run.counters) is dict
        return {"sources": [source.id for source in run.sources], "setup": run.setup, "tick": run.tick_ps, "events": len(run), "hits": len(pandas.hits),
                "columns": {name: column.tolist() for name, column in run.columns().items()}}


def replace(file, name, data):
    del file[name]
    if data is not None:
        file[name] = data


WRONG_DATASETS = {
    "missing": lambda file, name: replace(file, name, None), "a group": lambda file, name: (replace(file, name, None), file.create_group(name)),
    "a number": lambda file, name: replace(file, name, 7), "a table": lambda file, name: replace(file, name, np.ones((3, 2), "u8")),
    "floats": lambda file, name: replace(file, name, np.full(len(file[name]), 0.5)), "empty": lambda file, name: replace(file, name, h5py.Empty("u8")),
    "texts": lambda file, name: replace(file, name, np.full(len(file[name]), b"x")), "short": lambda file, name: replace(file, name, file[name][:-1]),
}
WRONG_ATTRIBUTES = {
    "missing": lambda value: None, "several": lambda value: [7, 8], "of another type": lambda value: 7 if isinstance(value, str) else "seven",
    "empty": lambda value: h5py.Empty("u8"), "in brackets": lambda value: [value],
}
FILES = ("run.h5", "run.part-0001-0000.h5", "merged.h5")


def damage_dataset(path, kind, which):
    """Damages a dataset and returns its name; None after the last one."""
    with h5py.File(path, "a") as file:
        names = []
        file.visit(lambda name: names.append(name) if isinstance(file[name], h5py.Dataset) and not name.startswith("entry") else None)
        if which < len(names):
            WRONG_DATASETS[kind](file, names[which])
            return names[which]


def damage_attribute(path, kind, which):
    with h5py.File(path, "a") as file:
        names = [name for name in file.attrs if not name.startswith("texts_")]
        if which < len(names):
            value = WRONG_ATTRIBUTES[kind](file.attrs[names[which]])
            del file.attrs[names[which]]
            if value is not None:
                file.attrs[names[which]] = value
            return names[which]


KINDS = [*((damage_dataset, kind) for kind in WRONG_DATASETS), *((damage_attribute, kind) for kind in WRONG_ATTRIBUTES)]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage, kind", KINDS, ids=[f"{damage.__name__}-{kind}" for damage, kind in KINDS])
def test_structure(package, older, name, damage, kind):
    """Damages each dataset and each attribute of each file: DamagedFile, unless it does not matter."""
    path = older / ("merged.h5" if name == "merged.h5" else "run.h5")
    intact, whole, which, refused = all_of(package, path), (older / name).read_bytes(), 0, 0
    while what := damage(older / name, kind, which):
        try:
            assert all_of(package, path) == intact, what
        except package.DamagedFile as error:
            assert "\n" not in str(error)
            refused += 1
        except ValueError as error:
            assert what in ("format", "format_version") and re.search("not one that Eventloom wrote|has format version", str(error)), what
        (older / name).write_bytes(whole)
        which += 1
    assert which > 5 and refused > 2


@pytest.mark.parametrize("dataset, change, words", [
    ("events/n_hits", lambda n: n + (np.arange(len(n)) == 3), "/events/first_hit and n_hits disagree"),
    ("events/first_hit", lambda n: np.maximum(n, 1), "/events/first_hit do not rise from 0 to 120"),
    ("events/first_hit", lambda n: np.minimum(n, n[-2]), "/events/first_hit do not rise from 0 to 120"),
    ("hits/first_payload", lambda n: n[::-1], "/hits/first_payload do not rise from 0 to 120"),
    ("events/time", lambda n: n[::-1], "/events/time: the events are not in the order of time")])
@pytest.mark.every_case
def test_columns_that_contradict_each_other(package, older, dataset, change, words):
    for path in (older / "merged.h5", older / "run.part-0001-0000.h5"):
        with h5py.File(path, "a") as file:
            file[dataset][...] = change(file[dataset][:])
    for path, all_words in ((older / "run.h5", words), (older / "merged.h5", words.replace("120", "240"))):
        with package.open(path) as run, pytest.raises(package.DamagedFile, match=all_words) as error:
            run.to_pandas()
        one_line(error)


@pytest.mark.parametrize("dataset", ["events/time", "events/first_hit", "hits/channel", "hits/first_payload", "payload"])
def test_wrong_checksum(package, copy, dataset):
    part = parts(copy)[2]
    with h5py.File(part) as file:
        at = file[dataset].id.get_chunk_info(0).byte_offset
    data = bytearray(part.read_bytes())
    data[at + 1] ^= 8
    part.write_bytes(data)
    with package.open(copy / "run.h5") as opened, pytest.raises(package.DamagedFile, match=f"/{dataset}: ") as error:
        opened.columns()
    assert str(part) in one_line(error)


def assert_not_as_listed(package, folder, words):
    """Refused whatever is read of it, and again."""
    with package.open(folder / "run.h5") as opened:
        for read in (lambda: opened.columns("hits/channel"), lambda: opened[0], lambda: list(opened.chunks(10))):
            with pytest.raises(package.DamagedFile, match=words) as error:
                read()
            one_line(error)


def test_the_part_of_another_writer(package, older):
    """It has equal numbers of events, hits and slices."""
    shutil.copy(older / "run.part-0000-0000.h5", older / "run.part-0001-0000.h5")
    assert_not_as_listed(package, older, "run.part-0001-0000.h5' is not as its run lists it: it was written as 'run.part-0000-0000.h5'")


def test_the_part_of_another_run(package, older):
    """The name is right, but its slices or its times are not."""
    part = older / "run.part-0001-0000.h5"
    whole = part.read_bytes()
    with h5py.File(part, "a") as file:
        file["ledger/slice"][...] = [1, 3, 7]
    assert_not_as_listed(package, older, "it has 3 slices from 1 to 7, not 3 from 1 to 5")
    part.write_bytes(whole)
    with h5py.File(part, "a") as file:
        file["events/time"][...] += 100_000
    assert_not_as_listed(package, older, "events from .* are not in its slices, from 20000 to 119999")


def test_parts_that_are_not_as_listed(package, copy):
    first, second, third, *_ = parts(copy)
    whole = first.read_bytes()
    first.write_bytes(whole[:len(whole) // 2])
    with package.open(copy / "run.h5") as opened, pytest.raises(package.DamagedFile, match=first.name) as error:
        opened.columns()
    one_line(error)
    first.write_bytes(second.read_bytes())
    assert_not_as_listed(package, copy, f"it was written as '{second.name}'")
    first.write_bytes(whole)
    third.unlink()
    with pytest.raises(FileNotFoundError, match="keep the parts of a run beside 'run.h5'") as error:
        package.open(copy / "run.h5")
    assert third.name in one_line(error)


# Many parts.

def test_a_damaged_part_harms_no_others(package, run, copy):
    """Data before it are read as without it."""
    merged, damaged = read_merged(run.merged), parts(copy)[-1]
    with h5py.File(damaged) as file:
        begin = int(file["ledger/slice"][0]) * 100_000
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with package.open(copy / "run.h5") as opened:
        before = opened.between(0, begin)
        read = 0
        for chunk in before.chunks(events=97):
            assert_reads(chunk, merged, read, read + len(chunk))
            read += len(chunk)
        assert read == len(before) > 1000
        with pytest.raises(package.DamagedFile, match=damaged.name) as error:
            opened.columns()
        one_line(error)


def count_forks(monkeypatch):
    """A list that grows with each fork."""
    forks, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: (forks.append(1), fork())[1])
    return forks


def test_files_are_checked_once(package, run, monkeypatch):
    """Many parts together, in few processes; although only some stay open, none is checked again while it does not
    change."""
    forks, found = count_forks(monkeypatch), []
    with package.open(run.output) as opened:
        found.append(opened.columns())
        assert 1 < len(forks) < 10 < len(parts(run.output.parent)) / 4
        del forks[:]
        found.append(opened.columns())
        assert not forks and all(np.array_equal(found[1][name], column) for name, column in found[0].items())


@pytest.mark.parametrize("change, words", [
    (lambda file: file["hits/channel"].__setitem__(0, file["hits/channel"][0] + 1), "/hits/channel: its values have the checksum"),
    (lambda file: file.attrs.__setitem__("segment", 7), "the attribute 'segment' is not the one that was written")])
@pytest.mark.every_case
def test_a_part_that_is_changed_between_two_reads(package, copy, change, words):
    part = parts(copy)[0]
    with package.open(copy / "run.h5") as opened:
        opened.columns()
        with h5py.File(part, "a") as file:
            change(file)
        for _ in range(2):
            with pytest.raises(package.DamagedFile, match=words) as error:
                opened.columns()
            assert str(part) in one_line(error)
