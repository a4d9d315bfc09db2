"""Parts that were rewritten with h5py, whose checksums HDF5 then recomputes: every command and the Python package
refuse them and name the file, or give the same results as before, because they do not read the changed data.

EVENTLOOM_REWRITES says how many cases there are in all, EVENTLOOM_REWRITES_SEED which ones.
"""

import os
import random
import shutil

import h5py
import numpy as np
import pytest

from interrupted import STOPPED, Started, content, parts
from program import DATA, eventloom, generate
from seals import seal_root, seal_values

CASES = int(os.environ.get("EVENTLOOM_REWRITES", 60))
SEED = os.environ.get("EVENTLOOM_REWRITES_SEED", "0")
OPTIONS = ["--source", "in/*.epochs", "--define", "gap:60,3", "--filter", "n_hits<10", "--epochs-per-slice", "16",
           "--builders", "2", "--segment-size", "4000", "--output", "run.h5"]


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A finished run of several parts, its merged file, and the output of the commands for it."""
    folder = tmp_path_factory.mktemp("clean")
    generate(folder / "in", sources=3, rate=20_000, timing="poisson", hits=8, width="50ns", noise=200_000, duration="8ms",
             payload=1, seed=4)
    eventloom("run", *OPTIONS, cwd=folder)
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder)
    assert len(parts(folder)) >= 3
    return folder


@pytest.fixture(scope="module")
def stopped(tmp_path_factory, clean):
    folder = tmp_path_factory.mktemp("stopped")
    shutil.copytree(clean / "in", folder / "in")
    with Started(folder, "run", *OPTIONS[:-3], "1", *OPTIONS[-2:], "--speed", "0.002") as started:
        started.until_parts(4)
        started.send(10, 0)  # SIGUSR1
        started.wait(STOPPED)
    return folder


# How parts are rewritten. Each function returns False if it changes nothing.

def replace_values(file, name, values, **storage):
    """The dataset with other values, and with all its attributes."""
    attributes = dict(file[name].attrs)
    del file[name]
    dataset = file.create_dataset(name, data=values, **storage)
    dataset.attrs.update(attributes)
    return True


def change_by_one(dice, file, name):
    if len(file[name]) == 0:
        return False
    row = dice.randrange(len(file[name]))
    file[name][row] = (file[name][:] + np.array(dice.choice([1, -1])).astype(file[name].dtype))[row]
    return True


def swap_rows(dice, file, name):
    values = file[name][:]
    other = np.flatnonzero(values != values[0]) if len(values) else []
    if len(other) == 0:
        return False
    row = int(dice.choice(other.tolist()))
    values[[0, row]] = values[[row, 0]]
    file[name][...] = values
    return True


def all_zero(_dice, file, name):
    if not np.any(file[name][:]):
        return False
    file[name][...] = 0
    return True


def zeros_to_ones(_dice, file, name):
    """All bits: the sums of Fletcher's checksum do not change."""
    values = file[name][:]
    if np.all(values != 0):
        return False
    file[name][...] = np.where(values == 0, np.iinfo(values.dtype).max, values)
    return True


def drop_row(dice, file, name):
    values = file[name][:]
    return len(values) > 0 and replace_values(file, name, np.delete(values, dice.randrange(len(values))))


def double_row(dice, file, name):
    values = file[name][:]
    row = dice.randrange(max(len(values), 1))
    return len(values) > 0 and replace_values(file, name, np.insert(values, row, values[row]))


def cut_short(dice, file, name):
    if len(file[name]) == 0:
        return False
    file[name].resize((dice.randrange(len(file[name])),))
    return True


def other_type(dice, file, name):
    return replace_values(file, name, file[name][:].astype(dice.choice(["f8", "i8", "u8", "u4", "S8"])))


def other_storage(dice, file, name):
    storage = [{}, {"chunks": (3,)}, {"compression": "gzip"}, {"compression": "lzf"}, {"fletcher32": True, "chunks": (8,)}]
    return len(file[name]) > 0 and replace_values(file, name, file[name][:], **dice.choice(storage))


def without_attributes(_dice, file, name):
    """As `file[name] = values` leaves it."""
    values = file[name][:]
    del file[name]
    file[name] = values
    return True


def missing(_dice, file, name):
    del file[name]
    return True


def attribute_of_dataset(dice, file, name):
    key = dice.choice(sorted(file[name].attrs))
    file[name].attrs[key] = 7 if isinstance(file[name].attrs[key], str) else "seven"
    return True


def attribute_of_root(dice, file, _name):
    key = dice.choice(sorted(file.attrs))
    value = file.attrs[key]
    if isinstance(value, str):
        file.attrs[key] = value + "x"
    elif np.asarray(value).dtype.kind == "O":
        file.attrs[key] = [*value, "x"]
    else:
        file.attrs[key] = np.asarray(value) + np.uint64(1) if np.size(value) else [np.uint64(3)]
    return True


def attribute_gone(dice, file, _name):
    del file.attrs[dice.choice(sorted(file.attrs))]
    return True


def another_dataset(_dice, file, name):
    file[f"{name}_too"] = file[name][:]
    return True


VALUES = [change_by_one, change_by_one, swap_rows, all_zero, zeros_to_ones, drop_row, double_row, cut_short]
OTHER = [other_type, other_storage, without_attributes, missing, attribute_of_dataset, attribute_of_root, attribute_gone,
         another_dataset]


def rewrite(dice, path):
    """(dataset, what was done)"""
    while True:
        with h5py.File(path, "a") as file:
            names = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
            name = dice.choice(sorted(names))
            how = dice.choice(VALUES if dice.random() < 0.6 else OTHER)
            if not how(dice, file, name):
                continue
            level = dice.choice([0, 0, 1, 2])
            if level > 0 and name in file and how in VALUES:
                seal_values(file, name)
            if level > 1 and how in VALUES:
                seal_root(file)
        return name, f"{how.__name__} of /{name}, {['', 'with its checksum', 'with all checksums of the part'][level]}"


# What is done with them.

def outputs(folder, words):
    """(exit code, all messages and output)"""
    done = eventloom(*words, code=None, cwd=folder)
    written = (folder / "page.html").read_text() if words[0] == "report" and done.returncode == 0 else ""
    return done, done.stdout + written


COMMANDS = {"show": ["show", "run.h5", "--event", "3"], "summary": ["show", "run.h5", "--summary"],
            "report": ["report", "run.h5", "-o", "page.html"], "inspect": ["inspect", "--json", "run.h5"],
            "compare": ["compare", "merged.h5", "run.h5"]}


def judge_merge(folder, clean):
    done = eventloom("merge", "run.h5", "--output", "again.h5", code=None, cwd=folder)
    if done.returncode == 0:
        assert content(folder / "again.h5") == content(clean / "merged.h5")
    return done


def judge_command(folder, clean, name):
    done, said = outputs(folder, COMMANDS[name])
    if done.returncode == 0:
        expected, before = outputs(clean, COMMANDS[name])
        assert expected.returncode == 0 and said.replace(str(folder), "") == before.replace(str(clean), "")
    return done


def judge_resume(folder, clean):
    """A finished run is rebuilt where it is damaged."""
    done = eventloom("run", *OPTIONS, "--resume", cwd=folder, code=None)
    assert done.returncode == 0, done.stderr
    eventloom("merge", "run.h5", "--output", "again.h5", "--force", cwd=folder)
    assert content(folder / "again.h5", ignore=[""]) == content(clean / "merged.h5", ignore=[""])


def all_of(package, path):
    with package.open(path) as run:
        return {name: column.tolist() for name, column in run.columns().items()}, run.ledger.tolist()


def judge_python(folder, clean, package):
    try:
        found = all_of(package, folder / "run.h5")
    except (package.EventloomError, FileNotFoundError) as error:
        assert "\n" not in str(error) and "run.part-" in str(error)
        return
    assert found == all_of(package, clean / "run.h5")


def assert_said(done, part, dataset, what):
    if done.returncode == 0:
        return
    reported = done.stdout + done.stderr
    assert part in reported, reported
    if what.endswith(", ") and "attribute" not in what and "another" not in what:
        # The same values, stored in another way, show only in the size of the file.
        same_values = what.startswith(("other_type", "other_storage")) and "the run lists" in reported
        assert dataset in reported or same_values, reported


@pytest.mark.parametrize("number", range(CASES))
def test_rewritten(tmp_path, clean, package, number):
    dice = random.Random(f"{SEED} {number}")
    folder = shutil.copytree(clean, tmp_path / "run")
    part = dice.choice(parts(folder))
    dataset, what = rewrite(dice, part)
    try:
        assert_said(judge_merge(folder, clean), part.name, dataset, what)
        assert_said(judge_command(folder, clean, dice.choice(sorted(COMMANDS))), part.name, dataset, what)
        judge_python(folder, clean, package)
        judge_resume(folder, clean)
    except AssertionError as error:
        raise AssertionError(f"{what} in {part}: {error}") from error


# Parts of an earlier version have no checksums of values: their ledger must agree with the events and the totals.

def shift(column, row, by):
    def change(file):
        values = file[f"ledger/{column}"][:].astype(np.int64)
        values[row] += by
        file[f"ledger/{column}"][...] = values.astype(np.uint64)
    return change


CONTRADICTIONS = {
    "does not balance": ([shift("hits_in", 1, 1)], "/ledger does not balance"),
    "is not in the totals": ([shift("hits_in", 1, 1), shift("hits_outside", 1, 1)], "hits_in is "),
    "other hits are in events": ([shift("hits_in_events", 1, -1), shift("hits_outside", 1, 1)], "hits_in_events is "),
    "hits of another slice": ([shift("hits_in_events", 0, -1), shift("hits_outside", 0, 1), shift("hits_in_events", 1, 1),
                               shift("hits_outside", 1, -1)], "slice by slice"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_ledgers_without_checksums(tmp_path, name):
    changes, words = CONTRADICTIONS[name]
    folder = shutil.copytree(DATA / "older" / "64c9316", tmp_path / "run")
    eventloom("merge", "run.h5", "--output", "before.h5", cwd=folder)
    with h5py.File(folder / "run.part-0000-0000.h5", "a") as file:
        for change in changes:
            change(file)
    done = eventloom("merge", "run.h5", "--output", "after.h5", code=2, cwd=folder)
    assert words in done.stderr and "run" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not (folder / "after.h5").exists()


@pytest.mark.parametrize("dataset, words", [("events/slice", "/events/slice"), ("events/duration", "/events/duration"),
                                            ("events/first_hit", "/events/first_hit"), ("ledger/hits_in", "/ledger")])
def test_tables_without_checksums(tmp_path, dataset, words):
    """The output of `inspect` and `show` for a part whose columns contradict each other."""
    folder = shutil.copytree(DATA / "older" / "64c9316", tmp_path / "run")
    part = folder / "run.part-0000-0000.h5"
    with h5py.File(part, "a") as file:
        file[dataset][1] = file[dataset][1] + np.array(1, file[dataset].dtype)
    for command in (["inspect", part.name], ["inspect", "run.h5"], ["show", "run.h5", "--event", "0"]):
        done = eventloom(*command, code=None, cwd=folder)
        assert done.returncode in (2, 3) or command[0] == "show" and dataset.startswith("ledger"), done.stdout
        assert done.returncode == 0 or words in done.stdout + done.stderr, done.stdout + done.stderr
